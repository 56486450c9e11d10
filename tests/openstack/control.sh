#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# control.sh DIRECTORY [HOST...]: the control plane of make openstack, natively
# in the image with tests/openstack/packages: MariaDB, RabbitMQ, Placement,
# Glance, Nova's API, conductor and scheduler; then the scenario with these
# HOSTs (see check.sh). Without a HOST the first server is the one too many.
# There is no Keystone: whoever asks says in headers who he is, and is believed.
set -euo pipefail
shopt -s inherit_errexit
cd -- "${BASH_SOURCE[0]%/*}/../.."
# shellcheck source=tests/openstack/config.sh
. tests/openstack/config.sh
# shellcheck source=tests/openstack/scenario.sh
. tests/openstack/scenario.sh
DIR=$1
shift
LOGS=$DIR/control
mkdir -p "$LOGS"

note() { printf '# %4d s: %s\n' $((EPOCHSECONDS - $(<"$DIR/start"))) "$*"; }

# until_done SECONDS WHAT COMMAND...: waits until COMMAND succeeds.
until_done() {
	local end=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >"$LOGS/waiting" 2>&1; do
		if (( SECONDS > end )); then
			cat "$LOGS/waiting"
			echo "openstack: no $what in time; logs: $LOGS"
			exit 1
		fi
		sleep 1
	done
}

answers() { curl -s -o /dev/null "http://127.0.0.1:$1/"; }

# background NAME COMMAND...: starts a service that runs until this script's namespace ends.
background() {
	local name=$1
	shift
	"$@" </dev/null >"$LOGS/$name.log" 2>&1 &
}

# The image is read-only: services write to memory. What an API logs is kept.
writable() {
	local dir name
	for dir in /etc /var; do
		mkdir -p "/tmp/over$dir/upper" "/tmp/over$dir/work"
		mount -t overlay overlay \
			-o "lowerdir=$dir,upperdir=/tmp/over$dir/upper,workdir=/tmp/over$dir/work" "$dir"
	done
	for name in nova placement glance; do
		mkdir "$LOGS/$name"
		chown "$name" "$LOGS/$name"
		mount --bind "$LOGS/$name" "/var/log/$name"
	done
	mkdir -p /run/lock /run/mysqld
	chown mysql /run/mysqld
}

databases() {
	local name
	background mariadb mariadbd --user=mysql --bind-address=127.0.0.1 --skip-log-bin
	until_done 60 MariaDB mariadb -e 'SELECT 1'
	for name in placement glance nova_api nova nova_cell0; do
		echo "CREATE DATABASE $name;"
	done | mariadb
	mariadb -e "CREATE USER os@'%' IDENTIFIED BY 'os'; GRANT ALL ON *.* TO os@'%';
		CREATE USER os@localhost IDENTIFIED BY 'os'; GRANT ALL ON *.* TO os@localhost;"
}

# api NAME PORT: an API as Debian's init script starts it.
api() {
	local daemon
	daemon=$(compgen -c uwsgi_python3 | sort | tail -n 1)
	background "$1" "$daemon" --ini "/etc/${1%-api}/$1-uwsgi.ini" \
		--http-socket "127.0.0.1:$2" --processes 2
}

placement() {
	cat >/etc/placement/placement.conf <<-CONF
		[api]
		auth_strategy = noauth2
		[placement_database]
		connection = mysql+pymysql://os:os@127.0.0.1/placement
	CONF
	chmod 644 /etc/placement/placement.conf
	placement-manage db sync
	api placement-api 8778
}

glance() {
	mkdir -p /var/lib/glance/images
	chown glance /var/lib/glance/images
	cat >/etc/glance/glance-api.conf <<-CONF
		[DEFAULT]
		enabled_backends = file:file
		[database]
		connection = mysql+pymysql://os:os@127.0.0.1/glance
		[glance_store]
		default_backend = file
		[file]
		filesystem_store_datadir = /var/lib/glance/images
		[paste_deploy]
		config_file = /usr/share/glance-common/glance-api-paste.ini
		[oslo_policy]
		# Whoever asks has no roles, and may do all.
		enforce_new_defaults = false
		enforce_scope = false
	CONF
	chmod 644 /etc/glance/glance-api.conf
	glance-manage db_sync
	api glance-api 9292
}

nova() {
	nova_conf 127.0.0.1
	chmod 644 /etc/nova/nova.conf
	chown -R nova /var/lib/nova
	sed 's/ authtoken keystonecontext/ keystonecontext/' /usr/share/nova-common/api-paste.ini \
		>/etc/nova/api-paste.ini
	chmod 644 /etc/nova/api-paste.ini
	nova-manage api_db sync
	nova-manage cell_v2 map_cell0
	nova-manage cell_v2 create_cell --name cell1
	nova-manage db sync
	until_done 120 RabbitMQ bash -c 'exec 3<>/dev/tcp/127.0.0.1/5672'
	background nova-conductor nova-conductor
	background nova-scheduler nova-scheduler
	api nova-api 8774
}

main() {
	writable
	# Erlang's nodes find one another by the host's name.
	echo "127.0.0.1 localhost $(hostname -s)" >/etc/hosts
	background rabbitmq env RABBITMQ_NODENAME=rabbit@localhost \
		RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 /usr/sbin/rabbitmq-server
	background neutron-stub python3 tests/openstack/neutron-stub.py 9696
	databases
	note "MariaDB is up"
	(placement) >"$LOGS/placement.sync" 2>&1 &
	(glance) >"$LOGS/glance.sync" 2>&1 &
	(nova) >"$LOGS/nova.sync" 2>&1 || { tail -n 20 "$LOGS/nova.sync"; exit 1; }
	until_done 120 Placement answers 8778
	until_done 120 Glance answers 9292
	until_done 120 "Nova API" answers 8774
	note "MariaDB, RabbitMQ, Placement, Glance, Nova's API, conductor and scheduler are up"
	: >"$DIR/ready"
	scenario "$@"
}

main "$@"
