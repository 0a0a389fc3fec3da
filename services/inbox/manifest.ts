import * as parts from '#messages/parts';
import * as texts from '#messages/manifests';
import { defineManifest } from '../contracts/service.ts';
import { live } from './live.ts';
import { Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Inbox: stores every message of Homeport, with search, marking and deletion. */
export const manifest = defineManifest({
  id: 'inbox',
  title: texts.inboxTitle,
  summary: texts.inboxSummary,
  settings: Settings,
  environment: { INBOX_KEEP_DAYS: 'keepDays' },
  migrations,
  grantable: [{ service: 'inbox', title: texts.inboxGrant, example: '*' }],
  pulse: { counter: 'inbox_items_total', total: parts.messagesInDay },
  live,
});
