// Package alerts reads the alerts and the dashboards of the manager, and says which
// metrics they need. A query for a metric that does not exist is no error anywhere:
// it finds nothing, forever. So somebody has to compare.
//
//	rules.go      the alerts in config/prometheus
//	dashboard.go  the queries in config/dashboards/
//	metrics.go    which metrics these need, and which of them are not there
//
// Its tests run each alert, and look after the pages in runbooks/.
package alerts
