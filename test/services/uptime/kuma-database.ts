import Sqlite from 'better-sqlite3';

/** Tables of Uptime Kuma 2.x, with the imported columns and some that are not imported. */
const schema = `
CREATE TABLE "user" (id INTEGER PRIMARY KEY AUTOINCREMENT, username VARCHAR(255), password VARCHAR(255));
CREATE TABLE docker_host (id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INT, docker_daemon VARCHAR(255),
  docker_type VARCHAR(255), name VARCHAR(255));
CREATE TABLE "proxy" (id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INT, protocol VARCHAR(10),
  host VARCHAR(255), port SMALLINT, auth BOOLEAN, username VARCHAR(255), password VARCHAR(255),
  active BOOLEAN NOT NULL DEFAULT 1, "default" BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE "monitor" (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(150),
  active BOOLEAN DEFAULT 1 NOT NULL, user_id INTEGER, interval INTEGER DEFAULT 20 NOT NULL, url TEXT,
  type VARCHAR(20), weight INTEGER DEFAULT 2000, hostname VARCHAR(255), port INTEGER,
  created_date DATETIME DEFAULT (DATETIME('now')) NOT NULL, keyword VARCHAR(255),
  maxretries INTEGER NOT NULL DEFAULT 0, ignore_tls BOOLEAN DEFAULT 0 NOT NULL,
  upside_down BOOLEAN DEFAULT 0 NOT NULL, maxredirects INTEGER DEFAULT 10 NOT NULL,
  accepted_statuscodes_json TEXT DEFAULT '["200-299"]' NOT NULL, dns_resolve_type VARCHAR(5),
  dns_resolve_server VARCHAR(255), retry_interval INTEGER DEFAULT 0 NOT NULL, push_token VARCHAR(32),
  method TEXT DEFAULT 'GET' NOT NULL, body TEXT, headers TEXT, basic_auth_user TEXT, basic_auth_pass TEXT,
  docker_host INTEGER, docker_container VARCHAR(255), proxy_id INTEGER, expiry_notification BOOLEAN DEFAULT 1,
  mqtt_topic TEXT, game VARCHAR(255), gamedig_given_port_only BOOLEAN DEFAULT 1 NOT NULL,
  resend_interval INTEGER DEFAULT 0 NOT NULL, parent INTEGER, timeout DOUBLE DEFAULT 0 NOT NULL,
  kafka_producer_brokers TEXT, json_path TEXT, conditions TEXT NOT NULL DEFAULT '[]',
  http_body_encoding VARCHAR(25), description TEXT);
CREATE TABLE heartbeat (id INTEGER PRIMARY KEY AUTOINCREMENT, important BOOLEAN DEFAULT 0 NOT NULL,
  monitor_id INTEGER NOT NULL, status SMALLINT NOT NULL, msg TEXT, time DATETIME NOT NULL, ping INTEGER,
  duration INTEGER DEFAULT 0 NOT NULL, down_count INTEGER DEFAULT 0 NOT NULL, end_time DATETIME,
  retries INTEGER NOT NULL DEFAULT 0);
CREATE INDEX monitor_important_time_index ON heartbeat (monitor_id, important, time);
CREATE TABLE stat_hourly (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL,
  timestamp INTEGER NOT NULL, ping FLOAT NOT NULL, up SMALLINT NOT NULL, down SMALLINT NOT NULL,
  ping_min FLOAT DEFAULT 0 NOT NULL, ping_max FLOAT DEFAULT 0 NOT NULL, extras TEXT);
CREATE TABLE stat_daily (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL,
  timestamp INTEGER NOT NULL, ping FLOAT NOT NULL, up SMALLINT NOT NULL, down SMALLINT NOT NULL,
  ping_min FLOAT DEFAULT 0 NOT NULL, ping_max FLOAT DEFAULT 0 NOT NULL, extras TEXT);
CREATE TABLE notification (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(255),
  active BOOLEAN DEFAULT 1 NOT NULL, user_id INTEGER, is_default BOOLEAN DEFAULT 0 NOT NULL, config TEXT);
CREATE TABLE monitor_notification (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, notification_id INTEGER NOT NULL);
CREATE TABLE tag (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(255), color VARCHAR(255), created_date DATETIME);
CREATE TABLE monitor_tag (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER, tag_id INTEGER, value TEXT);
CREATE TABLE status_page (id INTEGER PRIMARY KEY AUTOINCREMENT, slug VARCHAR(255), title VARCHAR(255),
  description TEXT, icon VARCHAR(255) NOT NULL, theme VARCHAR(30) NOT NULL,
  published BOOLEAN DEFAULT 1 NOT NULL, search_engine_index BOOLEAN DEFAULT 1 NOT NULL,
  show_tags BOOLEAN DEFAULT 0 NOT NULL, password VARCHAR, footer_text TEXT, custom_css TEXT,
  show_powered_by BOOLEAN NOT NULL DEFAULT 1, analytics_id VARCHAR,
  show_certificate_expiry BOOLEAN DEFAULT 0 NOT NULL, auto_refresh_interval INTEGER DEFAULT 300,
  show_only_last_heartbeat BOOLEAN DEFAULT 0 NOT NULL);
CREATE TABLE status_page_cname (id INTEGER PRIMARY KEY AUTOINCREMENT, status_page_id INTEGER, domain VARCHAR NOT NULL UNIQUE);
CREATE TABLE "group" (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(255), created_date DATETIME,
  public BOOLEAN, active BOOLEAN, weight INTEGER NOT NULL DEFAULT 1000, status_page_id INTEGER);
CREATE TABLE monitor_group (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER, group_id INTEGER,
  weight INTEGER NOT NULL DEFAULT 1000, send_url BOOLEAN DEFAULT 0 NOT NULL, custom_url TEXT);
CREATE TABLE incident (id INTEGER PRIMARY KEY AUTOINCREMENT, title VARCHAR(255), content TEXT,
  style VARCHAR(30) DEFAULT 'warning', created_date DATETIME, last_updated_date DATETIME,
  pin BOOLEAN DEFAULT 1, active BOOLEAN DEFAULT 1, status_page_id INTEGER);
CREATE TABLE maintenance (id INTEGER PRIMARY KEY AUTOINCREMENT, title VARCHAR(150), description TEXT,
  user_id INTEGER, active BOOLEAN DEFAULT 1, strategy VARCHAR(50) DEFAULT 'single', start_date DATETIME,
  end_date DATETIME, start_time TIME, end_time TIME, weekdays VARCHAR2(250) DEFAULT '[]',
  days_of_month TEXT DEFAULT '[]', interval_day INTEGER, cron TEXT, timezone VARCHAR(255), duration INTEGER);
CREATE TABLE monitor_maintenance (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER, maintenance_id INTEGER);
CREATE TABLE maintenance_status_page (id INTEGER PRIMARY KEY AUTOINCREMENT, status_page_id INTEGER, maintenance_id INTEGER);
CREATE TABLE api_key (id INTEGER PRIMARY KEY AUTOINCREMENT, "key" VARCHAR(255), name VARCHAR(255),
  user_id INTEGER, active BOOLEAN, expires DATETIME);
CREATE TABLE setting (id INTEGER PRIMARY KEY AUTOINCREMENT, "key" VARCHAR(200), value TEXT, type VARCHAR(20));
`;

/** Writes a `kuma.db` in the journal mode of a running Uptime Kuma, including its write-ahead log. */
export function writeKumaDatabase(file: string, rows: Readonly<Record<string, readonly object[]>>): void {
  const db = new Sqlite(file);
  db.pragma('journal_mode = WAL');
  db.exec(schema);
  for (const [table, list] of Object.entries(rows)) {
    for (const row of list) {
      const names = Object.keys(row);
      const marks = names.map(() => '?').join(',');
      db.prepare(`INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(',')}) VALUES (${marks})`).run(
        Object.values(row),
      );
    }
  }
  db.close();
}
