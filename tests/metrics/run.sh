#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: tests that Prometheus reads vgpuctl metrics; check.sh starts it in a lab machine.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
ctl=$PWD/build/tools/vgpuctl/vgpuctl
uuids=(6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c01 6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c02)
dir=$(mktemp -d)
children=()

clean_up() {
	local uuid
	((${#children[@]} == 0)) || kill "${children[@]}" 2>/dev/null
	wait 2>/dev/null
	for uuid in "${uuids[@]}"; do
		"$ctl" remove "$uuid" >/dev/null 2>&1
	done
	scripts/unload
	rm -rf "$dir"
}
trap clean_up EXIT

echo "TAP version 13"

"$ctl" metrics --file "$dir/vgpu.prom" 2>/dev/null
(($? == 1)) && [[ $(grep -v '^#' "$dir/vgpu.prom") == "vgpu_up 0" ]] && promtool check metrics <"$dir/vgpu.prom"
ktap_result no_driver $?
scripts/load gpus=2 || exit
ktap_run promtool_without_vgpus promtool check metrics <<<"$("$ctl" metrics)"

for uuid in "${uuids[@]}"; do
	"$ctl" create --type "$("$ctl" types --gpu 0 --noheadings -o name | head -n 1)" --gpu 0 \
		--uuid "$uuid" >/dev/null
done
"$ctl" sched set --gpu 0 --policy qos >/dev/null
"$ctl" share set "${uuids[0]}" --guarantee 25% --cap 50% --weight 3 >/dev/null
# A name that breaks texts which do not escape it.
hostile=$dir/$'a"b\\c\n\xff'
ln -s "$PWD/build/selftests/busy" "$hostile"
"$hostile" "${uuids[0]}" >/dev/null &
children+=("$!")
build/selftests/busy "${uuids[1]}" >"$dir/busy" &
children+=("$!")
for ((i = 0; i < 1500; i++)); do
	[[ ! -s $dir/busy ]] || break
	sleep 0.2
done
ktap_run promtool promtool check metrics <<<"$("$ctl" metrics)"
grep -q '^vgpu_vgpu_owner_info{.*,command="a\\"b\\\\c\\n�"} 1$' <<<"$("$ctl" metrics)"
ktap_result hostile_name $? "$("$ctl" metrics | grep owner_info)"
grep -q '^vgpu_vgpu_guest_busy_seconds{.*,process="named",.*,guest_command="a\\"b\\\\c��",' <<<"$("$ctl" metrics)"
ktap_result hostile_label $? "$("$ctl" metrics | grep guest_busy)"

while :; do
	"$ctl" metrics --file "$dir/vgpu.prom"
	sleep 1
done &
children+=("$!")
prometheus-node-exporter --collector.disable-defaults --collector.textfile \
	--collector.textfile.directory="$dir" --web.listen-address=127.0.0.1:9100 \
	>"$dir/node_exporter.log" 2>&1 &
children+=("$!")
tests/metrics/serve.py 9101 "$ctl" >"$dir/serve.log" 2>&1 &
children+=("$!")
cat >"$dir/prometheus.yml" <<-'EOF'
	global:
	  scrape_interval: 2s
	  scrape_timeout: 2s
	scrape_configs:
	  - job_name: node
	    static_configs: [{targets: ['127.0.0.1:9100']}]
	  - job_name: openmetrics
	    scrape_interval: 10s
	    scrape_timeout: 10s
	    scrape_protocols: [OpenMetricsText1.0.0]
	    static_configs: [{targets: ['127.0.0.1:9101']}]
EOF
ktap_run prometheus_configuration promtool check config "$dir/prometheus.yml"
prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data" \
	--web.listen-address=127.0.0.1:9090 --log.level=warn >"$dir/prometheus.log" 2>&1 &
children+=("$!")
tests/metrics/judge.py http://127.0.0.1:9090 Documentation/grafana-vgpu.json >"$dir/judge" 2>&1
while IFS=$'\t' read -r verdict name text; do
	[[ $name != end ]] || continue
	[[ $verdict == ok ]]
	ktap_result "$name" $? "$text"
done <"$dir/judge"
grep -q $'^ok\tend$' "$dir/judge"
ktap_result judge_came_to_its_end $? "$(<"$dir/judge")" "$(<"$dir/prometheus.log")" \
	"$(<"$dir/node_exporter.log")" "$(<"$dir/serve.log")"

# The units, as make install has them.
make -s -C tools O="$PWD/build/tools" PREFIX="$dir/root" UNITDIR="$dir/root/units" \
	UDEVLIBDIR="$dir/root/udev" CALLOUTDIR="$dir/root/callouts" install >/dev/null
ktap_run units systemd-analyze verify --man=no "$dir"/root/units/vgpu-metrics.{service,timer}
ktap_end >/dev/null
echo "1..$ktap_number"
echo "$((ktap_number - ktap_failed)) passed, $ktap_failed failed"
((ktap_failed == 0))
