import type { ColumnType, Generated } from 'kysely';

/** A big integer: PostgreSQL's driver returns it as text. */
type Milliseconds = ColumnType<number | string, number, number>;

export interface ConfigurationTable {
  key: string;
  format: string;
  /** The configuration as it was given; a seal of it unless `sealed` is 0. */
  body: string;
  sealed: number;
  /** JSON: what the owner chose for the key. */
  options: string;
  /** Sealed: what programs sign with; null for none. */
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
  /** How many files go with it. */
  files: number;
  /** How many aggregators passed it on before this one. */
  hops: number;
  /** What a repetition is told by; null where repetitions are sent. */
  fingerprint: string | null;
  source: string;
  created_at: Milliseconds;
}

export interface DeliveryTable {
  notice_id: string;
  destination_id: string;
  service: string;
  /** The destination's URL, sealed; empty once it is no longer needed. */
  sealed_url: string;
  /** The same with its passwords masked, sealed; plain where an older version wrote it. */
  shown_url: string;
  optional: number;
  /** The window whose notices come together; null when it comes alone. */
  digest: string | null;
  /** When it was accepted, where it counts against the rate of its destination. */
  rated_at: Milliseconds | null;
  state: 'waiting' | 'done' | 'dead';
  attempts: number;
  /** What the last attempt brought. */
  detail: string;
  /** JSON: what of several requests was confirmed; empty for nothing. */
  progress: Generated<string>;
  updated_at: Milliseconds;
}

/** A file of a notice, as long as it is kept. */
export interface AttachmentTable {
  notice_id: string;
  /** Its place among the files of the notice, from 0. */
  place: number;
  /** Name within the service's folder of attachments. */
  file: string;
  name: string;
  type: string;
  /** In bytes. */
  size: number;
}

/** A destination of an escalation that is not over: of the level that is asked now, or of a later one. */
export interface EscalationTable {
  notice_id: string;
  destination_id: string;
  chain: number;
  level: number;
  optional: number;
  /** JSON: its delivery and its job as they are made when it is asked. The secrets in it are sealed. */
  held: string;
}

export interface EngineUrlTable {
  /** Fingerprint of the URL as it was typed. */
  id: string;
  service: string;
  /** The URL in its normal form, sealed. */
  sealed_url: string;
  /** As in the deliveries. */
  shown_url: string;
  optional: number;
}

/** What the last attempts at a destination brought. */
export interface DestinationHealthTable {
  destination_id: string;
  state: DeliveryTable['state'];
  detail: string;
  updated_at: Milliseconds;
  /** When it took something last; null for never. */
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
