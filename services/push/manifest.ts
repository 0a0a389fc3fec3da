import { liveTopic } from '../contracts/control/live.ts';
import { pushDelayedChanged } from '../contracts/push/delayed.ts';
import { pushStored } from '../contracts/push/topics.ts';
import { defineManifest } from '../contracts/service.ts';
import { accounts } from './access/service-accounts.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Push service: delivers published messages to subscribers of a topic, compatible with ntfy. */
export const manifest = defineManifest({
  id: 'push',
  title: 'Messages',
  group: 'alerts',
  summary: 'Sends messages to phones, browsers and scripts that listen to a topic. Works with ntfy clients.',
  listeners: [
    { name: 'http', title: 'Messages', protocol: 'http', port: 2586, crossOrigin: 'credentialed', authenticates: true },
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
  settingGroups: {
    Retention: ['cacheDuration', 'keepInInbox'],
    'Phones and browsers': ['webPush', 'baseUrl', 'upstreamBaseUrl'],
    Attachments: ['attachmentFileSizeLimit', 'attachmentExpiryDuration'],
    'Messages and topics': ['messageSizeLimit', 'messageDelayLimit', 'reservedTopics', 'maxTopics', 'totalTopicLimit'],
    'Open subscriptions': ['keepaliveInterval', 'maxSubscribers', 'subscriptionLimit', 'subscriberRateLimiting'],
    'Browsers and phones': ['webPushContact', 'webPushHosts', 'unifiedPush', 'upstreamAccessToken'],
    'Limits per sender': [
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
    'Attachment storage': ['attachmentTotalLimit', 'attachmentTotalSizeLimit', 'attachmentDailyBandwidth'],
    Email: [
      'smtpSenderAddr',
      'smtpSenderFrom',
      'smtpSenderUser',
      'smtpSenderPass',
      'smtpSenderMode',
      'emailLimitBurst',
      'emailLimitReplenish',
    ],
  },
  keys: { table: 'keys' },
  migrations,
  grantable: [{ service: 'push', title: 'Message topics', example: '*-*-backup' }],
  live: [liveTopic(pushStored, 'user'), liveTopic(pushDelayedChanged, 'user')],
  pulse: { counter: 'push_messages_published_total', what: 'messages' },
  accounts,
  importSources: [{ program: 'ntfy', from: 'FOLDER', what: 'accounts, messages and settings of an ntfy server' }],
});
