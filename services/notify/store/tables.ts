import type { ColumnType, Generated } from 'kysely';
import type { NotifyFailureCode } from '../../contracts/notify/statistics.ts';

/** Big integer; the PostgreSQL driver returns text. */
type Milliseconds = ColumnType<number | string, number, number>;

export interface ConfigurationTable {
  key: string;
  format: string;
  /** Configuration as written; sealed unless `sealed` is 0. */
  body: string;
  sealed: number;
  /** JSON: options of the key. */
  options: string;
  /** Sealed signing secret; null for none. */
  secret: string | null;
  updated_at: Milliseconds;
}

export interface NotificationTable {
  id: string;
  /** Empty for a stateless call. */
  configuration: string;
  title: string;
  body: string;
  type: string;
  format: string;
  /** JSON list. */
  tags: string;
  link: string | null;
  /** Number of attachments. */
  files: number;
  /** Number of aggregators that forwarded it. */
  hops: number;
  /** Recognizes repetitions; null if they are delivered. */
  fingerprint: string | null;
  source: string;
  created_at: Milliseconds;
}

export interface DeliveryTable {
  notice_id: string;
  destination_id: string;
  service: string;
  /** Sealed URL of the destination; empty when it is no longer needed. */
  sealed_url: string;
  /** URL with masked passwords, sealed; unsealed in rows of older versions. */
  shown_url: string;
  optional: number;
  /** Window whose notifications are combined; null for a separate delivery. */
  digest: string | null;
  /** Time of acceptance if it counts against a rate limit. */
  rated_at: Milliseconds | null;
  state: 'waiting' | 'done' | 'dead';
  attempts: number;
  /** Result of the last attempt. */
  detail: string;
  /** Code of the last failure; empty for none. */
  code: Generated<NotifyFailureCode | ''>;
  /** JSON: confirmed steps; empty for none. */
  progress: Generated<string>;
  updated_at: Milliseconds;
}

/** Retained attachment of a notification. */
export interface AttachmentTable {
  notice_id: string;
  /** Index among the files of the notification, from 0. */
  place: number;
  /** File name in the attachments folder. */
  file: string;
  name: string;
  type: string;
  /** In bytes. */
  size: number;
}

/** Destination of an active escalation, in the current level or a later one. */
export interface EscalationTable {
  notice_id: string;
  destination_id: string;
  chain: number;
  level: number;
  optional: number;
  /** JSON: delivery and job, created when the level starts. Secrets in it are sealed. */
  held: string;
}

export interface EngineUrlTable {
  /** Fingerprint of the URL as typed. */
  id: string;
  service: string;
  /** Normal form of the URL, sealed. */
  sealed_url: string;
  /** URL with masked passwords, sealed. */
  shown_url: string;
  optional: number;
}

/** Result of the last attempt at a destination. */
export interface DestinationHealthTable {
  destination_id: string;
  state: DeliveryTable['state'];
  detail: string;
  code: Generated<NotifyFailureCode | ''>;
  updated_at: Milliseconds;
  /** Time of the last success; null for none. */
  succeeded_at: Milliseconds | null;
}

export interface NotifyTables {
  configurations: ConfigurationTable;
  notices: NotificationTable;
  deliveries: DeliveryTable;
  attachments: AttachmentTable;
  escalations: EscalationTable;
  engine_urls: EngineUrlTable;
  destination_health: DestinationHealthTable;
}
