import * as m from '#messages/notify-settings';
import * as parts from '#messages/parts';
import * as texts from '#messages/manifests';
import { liveTopic } from '../contracts/control/live.ts';
import { notifyActivity } from '../contracts/notify/notification.ts';
import { defineManifest } from '../contracts/service.ts';
import { engine } from './apprise/engine.ts';
import { Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Manifest of the notification aggregator. */
export const manifest = defineManifest({
  id: 'notify',
  title: texts.notifyTitle,
  group: 'alerts',
  summary: texts.notifySummary,
  sharedSummary: texts.notifySharedSummary,
  listeners: [{ name: 'http', title: texts.notifyTitle, protocol: 'http', port: 8000 }],
  settings: Settings,
  environment: {
    APPRISE_CONFIG_LOCK: 'configurationLock',
    APPRISE_RECURSION_MAX: 'recursionLimit',
    APPRISE_STATELESS_URLS: 'statelessUrls',
    APPRISE_WEBHOOK_URL: 'resultsUrl',
    APPRISE_API_ONLY: 'apiOnly',
    APPRISE_MAX_ATTACHMENTS: 'maxAttachments',
    APPRISE_INTERPRET_EMOJIS: 'emojis',
    APPRISE_ATTACH_SIZE: 'attachmentBytes',
    APPRISE_ATTACH_ALLOW_URL: 'attachmentAllow',
    APPRISE_ATTACH_REJECT_URL: 'attachmentDeny',
    APPRISE_ALLOW_SERVICES: 'allowServices',
    APPRISE_DENY_SERVICES: 'denyServices',
    APPRISE_CONFIG_MAX_LENGTH: 'configurationBytes',
    APPRISE_HTTP_REDIRECTS: 'redirects',
    APPRISE_WEBHOOK_MAPPING_MAX_DEPTH: 'mappingDepth',
    APPRISE_STATEFUL_MODE: 'statefulMode',
    APPRISE_ADMIN: 'listKeys',
  },
  mainSettings: [
    'enabled',
    'historyDays',
    'emojis',
    'maxAttachments',
    'trustLocalPrograms',
    'requireSignIn',
    'closeKeys',
  ],
  settingGroups: [
    { heading: m.groupNotifications, settings: ['historyDays', 'emojis', 'maxAttachments'] },
    { heading: m.groupPrograms, settings: ['trustLocalPrograms', 'requireSignIn', 'closeKeys'] },
    {
      heading: m.groupFiles,
      settings: ['attachmentBytes', 'keptFilesBytes', 'attachmentHosts', 'attachmentAllow', 'attachmentDeny'],
    },
    {
      heading: m.groupDelivery,
      settings: ['answerMs', 'redirects', 'recursionLimit', 'allowServices', 'denyServices', 'maxWaiting'],
    },
    {
      heading: m.groupKeysOverTheApi,
      settings: [
        'configurationLock',
        'configurationBytes',
        'statefulMode',
        'listKeys',
        'statelessUrls',
        'resultsUrl',
        'mappingDepth',
        'apiOnly',
      ],
    },
  ],
  migrations,
  blobs: ['attachments'],
  engines: [engine],
  grantable: [{ service: 'notify', title: texts.notifyGrant, example: '*' }],
  live: [liveTopic(notifyActivity, 'admin')],
  pulse: { counter: 'aggregator_notifications_sent_total', total: parts.deliveriesInDay },
  importSources: [
    {
      program: 'apprise-api',
      from: 'FOLDER',
      help: texts.appriseApiImport,
      dryRun: true,
    },
  ],
});
