/** Logos by the name of the kind in the protocol. Further brands do not allow the use of their logo or have none. */
const logos: Readonly<Record<string, string>> = {
  Bluesky: 'bluesky',
  Brevo: 'brevo',
  Discord: 'discord',
  Emby: 'emby',
  'Google Chat': 'googlechat',
  Guilded: 'guilded',
  HomeAssistant: 'homeassistant',
  IFTTT: 'ifttt',
  Jellyfin: 'jellyfin',
  Jira: 'jira',
  'Kodi/XBMC': 'kodi',
  Line: 'line',
  Mailgun: 'mailgun',
  Mastodon: 'mastodon',
  Matrix: 'matrix',
  Mattermost: 'mattermost',
  'MQTT Notification': 'mqtt',
  Nextcloud: 'nextcloud',
  'Nextcloud Talk': 'nextcloud',
  ntfy: 'ntfy',
  Opsgenie: 'opsgenie',
  'Pager Duty': 'pagerduty',
  Plex: 'plex',
  Pushbullet: 'pushbullet',
  Reddit: 'reddit',
  Resend: 'resend',
  'Rocket.Chat': 'rocketdotchat',
  'Signal API': 'signal',
  SparkPost: 'sparkpost',
  'Splunk On-Call': 'splunk',
  'Synology Chat': 'synology',
  Telegram: 'telegram',
  'Threema Gateway': 'threema',
  Vonage: 'vonage',
  WhatsApp: 'whatsapp',
  Zulip: 'zulip',
};

/** Returns the name of the logo of a kind of destination; undefined without one. */
export function findKindLogo(title: string): string | undefined {
  return Object.hasOwn(logos, title) ? logos[title] : undefined;
}
