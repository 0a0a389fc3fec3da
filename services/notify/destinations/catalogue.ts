import { createHash } from 'node:crypto';
import type { Destination, DestinationKind } from './destination.ts';
import { appriseKind } from './kinds/apprise.ts';
import { barkKind } from './kinds/bark.ts';
import { discordKind } from './kinds/discord.ts';
import { formKind } from './kinds/form.ts';
import { googleChatKind } from './kinds/google-chat.ts';
import { gotifyKind } from './kinds/gotify.ts';
import { homeAssistantKind } from './kinds/home-assistant.ts';
import { inboxKind } from './kinds/inbox.ts';
import { jsonKind } from './kinds/json.ts';
import { mailKind } from './kinds/mail.ts';
import { matrixKind } from './kinds/matrix.ts';
import { mattermostKind } from './kinds/mattermost.ts';
import { ntfyKind } from './kinds/ntfy.ts';
import { popupKind } from './kinds/popup.ts';
import { pushKind } from './kinds/push.ts';
import { pushbulletKind } from './kinds/pushbullet.ts';
import { pushoverKind } from './kinds/pushover.ts';
import { rocketKind } from './kinds/rocketchat.ts';
import { signalKind } from './kinds/signal.ts';
import { slackKind } from './kinds/slack.ts';
import { teamsKind, workflowKind } from './kinds/teams.ts';
import { remoteSyslogKind, syslogKind } from './kinds/syslog.ts';
import { telegramKind } from './kinds/telegram.ts';
import { xmlKind } from './kinds/xml.ts';
import { kodiKind } from './kinds/kodi.ts';
import { mqttKind } from './kinds/mqtt.ts';
import { nextcloudKind, nextcloudTalkKind } from './kinds/nextcloud.ts';
import { opsgenieKind } from './kinds/opsgenie.ts';
import { pagerDutyKind } from './kinds/pagerduty.ts';
import { iftttKind, joinKind, prowlKind, pushsaferKind, simplePushKind } from './kinds/phones.ts';
import { synologyKind } from './kinds/synology.ts';
import { twilioKind } from './kinds/twilio.ts';
import { zulipKind } from './kinds/zulip.ts';
import { dingTalkKind, feishuKind, larkKind, pushplusKind, serverChanKind, weComKind } from './kinds/china.ts';
import { laMetricKind } from './kinds/lametric.ts';
import { mailgunKind, postmarkKind, resendKind, sendGridKind } from './kinds/mail-services.ts';
import { mastodonKind } from './kinds/mastodon.ts';
import { lineKind, notifiarrKind, webexKind, whatsAppKind } from './kinds/messengers.ts';
import { noticaKind } from './kinds/notica.ts';
import { snsKind } from './kinds/sns.ts';
import { splunkKind } from './kinds/splunk.ts';
import { plainUrl } from './plain-url.ts';
import { parseDestinationUrl } from './url.ts';

/** Every kind of destination that is served; a new one is a file here and a line in this list. */
export const kinds: readonly DestinationKind[] = [
  inboxKind,
  pushKind,
  popupKind,
  ntfyKind,
  mailKind,
  telegramKind,
  discordKind,
  slackKind,
  matrixKind,
  signalKind,
  homeAssistantKind,
  gotifyKind,
  pushoverKind,
  pushbulletKind,
  barkKind,
  workflowKind,
  teamsKind,
  googleChatKind,
  mattermostKind,
  rocketKind,
  appriseKind,
  jsonKind,
  formKind,
  xmlKind,
  twilioKind,
  pagerDutyKind,
  opsgenieKind,
  zulipKind,
  nextcloudKind,
  nextcloudTalkKind,
  synologyKind,
  kodiKind,
  mqttKind,
  iftttKind,
  joinKind,
  prowlKind,
  pushsaferKind,
  simplePushKind,
  lineKind,
  notifiarrKind,
  webexKind,
  whatsAppKind,
  mastodonKind,
  snsKind,
  mailgunKind,
  postmarkKind,
  resendKind,
  sendGridKind,
  splunkKind,
  laMetricKind,
  noticaKind,
  dingTalkKind,
  feishuKind,
  larkKind,
  pushplusKind,
  serverChanKind,
  weComKind,
  syslogKind,
  remoteSyslogKind,
];

const byScheme = new Map(
  kinds.flatMap((kind) => [...kind.protocols, ...kind.secureProtocols].map((scheme) => [scheme, kind] as const)),
);

/** Label of everything that the Apprise library delivers: its services are many, and theirs are not for us to count. */
export const engineLabel = 'engine';

/** Label of a service in the metrics. */
export function labelOf(service: string): string {
  return kinds.find((kind) => kind.service === service)?.label ?? engineLabel;
}

/** Whether the URL is one of a native kind, valid or not. */
export function isServed(text: string): boolean {
  const url = parseDestinationUrl(text);
  return url !== undefined && byScheme.has(plainUrl(url).scheme);
}

/**
 * The destination a URL names, or a sentence that says why there is none. The sentence holds nothing of the URL. `elsewhere`
 * is asked about those that are not native.
 */
export function parseDestination(
  text: string,
  elsewhere?: (text: string) => Destination | string,
): Destination | string {
  const given = parseDestinationUrl(text);
  if (given === undefined) return 'it is no destination URL';
  const url = plainUrl(given);
  const kind = byScheme.get(url.scheme);
  if (kind !== undefined) return kind.parse(url);
  return elsewhere === undefined ? `${url.scheme}:// is not served` : elsewhere(text);
}

/** Stable identity of a destination: the same URL has the same one everywhere. */
export function destinationId(destination: Destination): string {
  return createHash('sha256').update(destination.url(false)).digest('hex').slice(0, 16);
}
