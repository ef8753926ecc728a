package alerts

import "time"

const ofDB = `{job="postgres-operator", namespace="shop", name="db"`

var postgresCases = map[string]map[string]alertCase{
	"PostgresOperatorDown": {
		"nothing of the operators is known": {`up{job="other"} 1x10`, at10,
			[]string{"For two minutes, no postgres-operator has had the Lease. Writes go on, and nobody takes over for a primary that fails."}},
		"both operators stand by": {`
			leader_election_master_status{job="postgres-operator", pod="a"} 0x10
			leader_election_master_status{job="postgres-operator", pod="b"} 0x10`, at10,
			[]string{"For two minutes, no postgres-operator has had the Lease. Writes go on, and nobody takes over for a primary that fails."}},
		"the other operator takes over": {`
			leader_election_master_status{job="postgres-operator", pod="a"} 1x4 _x6
			leader_election_master_status{job="postgres-operator", pod="b"} 0x5 1x5`, at10, nil},
	},
	"PostgresNoPrimary": {
		"there is no primary": {`postgres_cluster_condition` + ofDB + `, condition="Available"} 1x7 0x3`, at10,
			[]string{"For a minute, shop/db has had no primary that a new client can connect to."}},
		"an operator that stands by knows it from before": {`
			postgres_cluster_condition` + ofDB + `, condition="Available", pod="a"} 1x10
			postgres_cluster_condition` + ofDB + `, condition="Available", pod="b"} 1x7 0x3`, at10,
			[]string{"For a minute, shop/db has had no primary that a new client can connect to."}},
		"there is no primary for a moment": {`postgres_cluster_condition` + ofDB + `, condition="Available"} 1x9 0`, at10, nil},
	},
	"PostgresDiskFull": {
		"a disk is nearly full": {`postgres_cluster_condition` + ofDB + `, condition="HasSpace"} 1x5 0x5`, at10,
			[]string{"For a minute, the disk of a member of shop/db has been nearly full. If it is the primary's or its standby's, no writes are taken. Raise spec.storage."}},
		"a query needs much space for a moment": {`postgres_cluster_condition` + ofDB + `, condition="HasSpace"} 1x9 0`, at10, nil},
	},
	"PostgresNotRedundant": {
		"no standby has all commits": {`
			postgres_cluster_condition` + ofDB + `, condition="Redundant"} 0x10
			postgres_cluster_members_wanted` + ofDB + `} 3x10`, at10,
			[]string{"For ten minutes, shop/db has had no standby with every acknowledged commit. If the disk of its primary is lost now, commits are lost."}},
		"a cluster of one": {`
			postgres_cluster_condition` + ofDB + `, condition="Redundant"} 0x10
			postgres_cluster_members_wanted` + ofDB + `} 1x10`, at10, nil},
	},
	"PostgresStandbyLags": {
		"a standby lacks much of the log": {`
			postgres_cluster_lag_bytes` + ofDB + `, member="db-2"} 0x10
			postgres_cluster_lag_bytes` + ofDB + `, member="db-3"} 536870912x10`, at10,
			[]string{"For five minutes, db-3 in shop has lacked more than 256 MiB of the log; now it is 512MiB."}},
		"a standby catches up": {`postgres_cluster_lag_bytes` + ofDB + `, member="db-3"} 536870912x6 0x4`, at10, nil},
	},
	"PostgresArchiveLags": {
		"nothing is archived": {`postgres_cluster_archive_age_seconds` + ofDB + `} 0+60x20`, 20 * time.Minute,
			[]string{"If all disks of shop/db are lost now, so are the commits of the last 20m 0s."}},
		"the archive was late, and is not any more": {`postgres_cluster_archive_age_seconds` + ofDB + `} 0+60x12 20x8`, 20 * time.Minute, nil},
	},
	"PostgresNotBackedUp": {
		"backups fail": {`postgres_cluster_condition` + ofDB + `, condition="BackedUp"} 0x70`, 70 * time.Minute,
			[]string{"For an hour, the condition BackedUp of shop/db has been False. Its reason says why."}},
		"a backup has failed, and the next one has not": {`postgres_cluster_condition` + ofDB + `, condition="BackedUp"} 0x50 1x20`, 70 * time.Minute, nil},
	},
	"PostgresFailsOver": {
		"one failover follows the other": {`postgres_cluster_failovers_total` + ofDB + `} 0x10 1x10 2x10 3x10 4x10 5x10`, time.Hour,
			[]string{"In the last hour, shop/db has had 5 elections."}},
		"members are updated one by one": {`postgres_cluster_failovers_total` + ofDB + `} 0x10 1x10 2x40`, time.Hour, nil},
	},
}
