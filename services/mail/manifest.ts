import * as m from '#messages/mail-settings';
import * as parts from '#messages/parts';
import * as texts from '#messages/manifests';
import { liveTopic } from '../contracts/control/live.ts';
import { mailActivity } from '../contracts/mail/api.ts';
import { defineManifest } from '../contracts/service.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/tables.ts';

/** SMTP gateway: converts mail to notifications; accepted mail is never lost. */
export const manifest = defineManifest({
  id: 'mail',
  title: texts.mailTitle,
  group: 'alerts',
  summary: texts.mailSummary,
  listeners: [
    {
      name: 'smtp',
      title: texts.mailListener,
      protocol: 'tcp',
      scheme: 'smtp',
      port: 8025,
      whenShared: texts.mailShared,
    },
  ],
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'clients', 'signIn', 'logins', 'tls', 'spoolDays', 'maxMegabytes'],
  settingGroups: [
    { heading: m.groupMails, settings: ['spoolDays', 'maxMegabytes'] },
    { heading: m.groupAccess, settings: ['clients', 'signIn', 'logins', 'tls'] },
    { heading: m.groupRouting, settings: ['recipients', 'rules', 'recognise', 'topicDomain', 'topicPrefix'] },
    {
      heading: m.groupMailServer,
      settings: ['certificateFile', 'keyFile', 'hostName', 'maxRecipients', 'maxClients', 'idleSeconds'],
    },
  ],
  migrations,
  blobs: ['spool'],
  grantable: [{ service: 'mail', title: texts.mailGrant, example: '*' }],
  live: [liveTopic(mailActivity, 'admin')],
  pulse: { counter: 'gateway_emails_processed_total', total: parts.mailsInDay },
  importSources: [{ program: 'mailrise', from: 'FILE', help: texts.mailriseImport }],
});
