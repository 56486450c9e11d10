# shellcheck shell=bash
# Configuration of the services of make openstack; sourced by control.sh and compute.sh.

TYPE=SG16-8Q
# A machine of the lab finds the host's ports at QEMU's address for it.
# shellcheck disable=SC2034 # for compute.sh
HOST_SEEN_FROM_MACHINE=10.0.2.2
# The host to which servers move, with the ports of its libvirtd, and of its QEMUs: memory, disk.
# shellcheck disable=SC2034 # for check.sh and scenario.sh
MOVE_TO=compute2 MOVE_PORTS='16509 49152 49153 49154 49155'

# nova_conf ADDRESS: writes Nova's configuration for a service that finds the others at ADDRESS.
nova_conf() {
	mkdir -p /var/lib/nova/instances /var/lib/nova/tmp
	cat >/etc/nova/nova.conf <<-CONF
		[DEFAULT]
		transport_url = rabbit://guest:guest@$1:5672/
		state_path = /var/lib/nova
		my_ip = 127.0.0.1
		compute_driver = libvirt.LibvirtDriver
		# Two builds at once on one host can choose the same mdev.
		max_concurrent_builds = 1
		reserved_host_memory_mb = 0
		heal_instance_info_cache_interval = -1
		# The machines are emulated, and share two processors.
		rpc_response_timeout = 300
		service_down_time = 300
		[api]
		auth_strategy = keystone
		[api_database]
		connection = mysql+pymysql://os:os@127.0.0.1/nova_api
		[database]
		connection = mysql+pymysql://os:os@127.0.0.1/nova
		[conductor]
		workers = 1
		[scheduler]
		workers = 1
		discover_hosts_in_cells_interval = 5
		[placement]
		auth_type = admin_token
		endpoint = http://$1:8778
		token = admin
		[glance]
		endpoint_override = http://$1:9292
		[neutron]
		auth_type = admin_token
		endpoint = http://$1:9696
		endpoint_override = http://$1:9696
		token = admin
		[devices]
		enabled_mdev_types = vgpu_soft-$TYPE
		[workarounds]
		# When a server moves, its kernel is taken for a disk: it has a boot sector.
		disable_deep_image_inspection = True
		[libvirt]
		virt_type = qemu
		cpu_mode = none
		images_type = raw
		live_migration_scheme = tcp
		live_migration_inbound_addr = $1
		# A server that is paused ends its move by this (ms), not by how fast it writes.
		live_migration_downtime = 60000
		live_migration_downtime_steps = 3
		live_migration_downtime_delay = 3
		[vnc]
		enabled = false
		[oslo_concurrency]
		lock_path = /var/lib/nova/tmp
	CONF
}
