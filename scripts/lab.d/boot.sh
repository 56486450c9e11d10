#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# boot.sh DIRECTORY RELEASE: makes the stock kernel and its initramfs there.
# Runs in the image.
set -eu
dir=$1 release=$2
mkdir -p /tmp/i/{bin,modules,proc,sys,dev,new,tmpfs,disk}
cp /bin/busybox /tmp/i/bin/
for module in virtio_pci virtio_blk ext4 overlay 9p 9pnet_virtio; do
	modprobe -S "$release" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >/tmp/list
: >/tmp/i/modules/order
while read -r path; do
	name=${path##*/}
	name=${name%.xz}
	case $path in
	*.xz) xz -dc "$path" >"/tmp/i/modules/$name" ;;
	*) cp "$path" /tmp/i/modules/ ;;
	esac
	echo "$name" >>/tmp/i/modules/order
done </tmp/list
cat >/tmp/i/init <<'EOF'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev
$b mount -t proc proc /proc
for arg in $($b cat /proc/cmdline); do
	case $arg in
	lab.run=*) run=${arg#*=} ;;
	lab.checkout=*) checkout=${arg#*=} ;;
	esac
done
while read -r module; do
	$b insmod "/modules/$module" || echo "lab: $module does not load"
done </modules/order
$b mount -t ext4 -o ro /dev/vda /disk || { $b poweroff -f; $b sleep 60; }
$b mount -t tmpfs -o mode=755,size=75% overlay /tmpfs
$b mkdir /tmpfs/upper /tmpfs/work
$b mount -t overlay -o lowerdir=/disk,upperdir=/tmpfs/upper,workdir=/tmpfs/work overlay /new
$b mkdir -p "/new$checkout" /new/.lab/root
opt=trans=virtio,version=9p2000.L,msize=512000
$b mount -t 9p -o "$opt,cache=mmap" checkout "/new$checkout" || { $b poweroff -f; $b sleep 60; }
$b mount -t 9p -o "$opt,cache=none" run "/new$run" || { $b poweroff -f; $b sleep 60; }
$b umount /proc
$b mount --move /dev /new/dev
exec $b switch_root /new /bin/bash "$checkout/scripts/lab.d/init" "$run"
EOF
chmod 755 /tmp/i/init
cd /tmp/i
find . | cpio --quiet -o -H newc -R 0:0 | lz4 -q -l -9 >"$dir/initrd"
cp "/boot/vmlinuz-$release" "$dir/kernel"
