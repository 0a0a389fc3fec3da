import type { Generated, Kysely, Selectable } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

interface Webhooks {
  id: Generated<number>;
  /** Set for a hook of one repository; `owner_id` is set for a hook of all repositories of an owner. */
  repository_id: number | null;
  owner_id: number | null;
  type: string;
  /** Sealed, because addresses of webhooks often contain a password or a token. */
  url: string;
  /** Options of a chat service as JSON. */
  options: Generated<string>;
  content_type: 'json' | 'form';
  /** Sealed; empty for none. */
  secret: string;
  authorization: string;
  branch_filter: string;
  events: string;
  active: number;
  /** Created by an account that may let it call this computer and its network. */
  local: number;
  created_at: number;
  updated_at: number;
}

interface HookDeliveries {
  id: string;
  hook_id: number;
  event: string;
  event_type: string;
  /** Signed and sent content. */
  body: string;
  state: 'waiting' | 'delivered' | 'failed';
  attempts: number;
  created_at: number;
  /** Results of the latest attempt start here; null before the first one. */
  sent_at: number | null;
  duration_ms: number | null;
  status: number | null;
  response_headers: string | null;
  response_body: string | null;
  error: string | null;
}

export interface HookTables {
  webhooks: Webhooks;
  hook_deliveries: HookDeliveries;
}

export type WebhookRow = Selectable<Webhooks>;
export type DeliveryRow = Selectable<HookDeliveries>;

export const hooksMigration: Migration = {
  name: '005-hooks-create',
  async up(db: Kysely<any>) {
    await db.schema
      .createTable('webhooks')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('repository_id', 'integer', (column) => column.references('repositories.id').onDelete('cascade'))
      .addColumn('owner_id', 'integer', (column) => column.references('owners.id').onDelete('cascade'))
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('content_type', 'text', (column) => column.notNull())
      .addColumn('secret', 'text', (column) => column.notNull())
      .addColumn('authorization', 'text', (column) => column.notNull())
      .addColumn('branch_filter', 'text', (column) => column.notNull())
      .addColumn('events', 'text', (column) => column.notNull())
      .addColumn('active', 'integer', (column) => column.notNull())
      .addColumn('local', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('updated_at', 'integer', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('webhooks_repository').on('webhooks').column('repository_id').execute();
    await db.schema.createIndex('webhooks_owner').on('webhooks').column('owner_id').execute();
    await db.schema
      .createTable('hook_deliveries')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('hook_id', 'integer', (column) => column.notNull().references('webhooks.id').onDelete('cascade'))
      .addColumn('event', 'text', (column) => column.notNull())
      .addColumn('event_type', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('sent_at', 'integer')
      .addColumn('duration_ms', 'integer')
      .addColumn('status', 'integer')
      .addColumn('response_headers', 'text')
      .addColumn('response_body', 'text')
      .addColumn('error', 'text')
      .execute();
    await db.schema
      .createIndex('hook_deliveries_hook')
      .on('hook_deliveries')
      .columns(['hook_id', 'created_at'])
      .execute();
  },
};
