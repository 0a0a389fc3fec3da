import { defineManifest } from '../contracts/service.ts';
import { live } from './live.ts';
import { Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Inbox: stores every message of Homeport, with search, marking and deletion. */
export const manifest = defineManifest({
  id: 'inbox',
  title: 'Inbox',
  summary: 'Keeps every message, to be searched and read later.',
  settings: Settings,
  environment: { INBOX_KEEP_DAYS: 'keepDays' },
  migrations,
  grantable: [{ service: 'inbox', title: 'Inbox, by source', example: '*' }],
  pulse: { counter: 'inbox_items_total', what: 'messages' },
  live,
});
