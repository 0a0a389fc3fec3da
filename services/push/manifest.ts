import * as m from '#messages/push-settings';
import * as parts from '#messages/parts';
import * as texts from '#messages/manifests';
import { liveTopic } from '../contracts/control/live.ts';
import { pushDelayedChanged } from '../contracts/push/delayed.ts';
import { pushDevicesChanged } from '../contracts/push/devices.ts';
import { pushStored } from '../contracts/push/topics.ts';
import { defineManifest } from '../contracts/service.ts';
import { accounts } from './access/service-accounts.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Push service: delivers published messages to subscribers of a topic, compatible with ntfy. */
export const manifest = defineManifest({
  id: 'push',
  title: texts.pushTitle,
  group: 'alerts',
  summary: texts.pushSummary,
  sharedSummary: texts.pushSharedSummary,
  listeners: [
    {
      name: 'http',
      title: texts.pushTitle,
      protocol: 'http',
      port: 2586,
      crossOrigin: 'credentialed',
      authenticates: true,
    },
  ],
  settings: Settings,
  environment,
  mainSettings: [
    'enabled',
    'cacheDuration',
    'keepInInbox',
    'webPush',
    'baseUrl',
    'upstreamBaseUrl',
    'attachmentFileSizeLimit',
    'attachmentExpiryDuration',
  ],
  settingGroups: [
    { heading: m.groupRetention, settings: ['cacheDuration', 'keepInInbox'] },
    { heading: m.groupPhonesAndBrowsers, settings: ['webPush', 'baseUrl', 'upstreamBaseUrl'] },
    { heading: m.groupAttachments, settings: ['attachmentFileSizeLimit', 'attachmentExpiryDuration'] },
    {
      heading: m.groupMessagesAndTopics,
      settings: ['messageSizeLimit', 'messageDelayLimit', 'reservedTopics', 'maxTopics', 'totalTopicLimit'],
    },
    {
      heading: m.groupOpenSubscriptions,
      settings: ['keepaliveInterval', 'maxSubscribers', 'subscriptionLimit', 'subscriberRateLimiting'],
    },
    {
      heading: m.groupBrowsersAndPhones,
      settings: ['webPushContact', 'webPushHosts', 'unifiedPush', 'upstreamAccessToken'],
    },
    {
      heading: m.groupLimitsPerSender,
      settings: [
        'limitAccounts',
        'limitExempt',
        'requestLimitBurst',
        'requestLimitReplenish',
        'prefixBitsIpv4',
        'prefixBitsIpv6',
        'topicLimitBurst',
        'topicLimitReplenish',
        'messageDailyLimit',
        'behindProxy',
        'enableSignup',
      ],
    },
    {
      heading: m.groupAttachmentStorage,
      settings: ['attachmentTotalLimit', 'attachmentTotalSizeLimit', 'attachmentDailyBandwidth'],
    },
    {
      heading: m.groupEmail,
      settings: [
        'smtpSenderAddr',
        'smtpSenderFrom',
        'smtpSenderUser',
        'smtpSenderPass',
        'smtpSenderMode',
        'emailLimitBurst',
        'emailLimitReplenish',
      ],
    },
  ],
  keys: { table: 'keys' },
  migrations,
  blobs: ['attachments'],
  grantable: [{ service: 'push', title: texts.pushGrant, example: '*-*-backup' }],
  live: [liveTopic(pushStored, 'user'), liveTopic(pushDelayedChanged, 'user'), liveTopic(pushDevicesChanged, 'user')],
  pulse: { counter: 'push_messages_published_total', total: parts.messagesInDay },
  accounts,
  importSources: [{ program: 'ntfy', from: 'FOLDER', help: texts.ntfyImport }],
});
