import * as problems from '#messages/notify-problems';
import { createHash } from 'node:crypto';
import type { Destination, DestinationKind } from './destination.ts';
import { appriseKind } from './program/apprise.ts';
import { barkKind } from './phone/bark.ts';
import { discordKind } from './chat/discord.ts';
import { formKind } from './program/form.ts';
import { googleChatKind } from './chat/google-chat.ts';
import { gotifyKind } from './phone/gotify.ts';
import { homeAssistantKind } from './home/home-assistant.ts';
import { inboxKind } from './here/inbox.ts';
import { jsonKind } from './program/json.ts';
import { mailKind } from './mail/mail.ts';
import { matrixKind } from './chat/matrix.ts';
import { mattermostKind } from './chat/mattermost.ts';
import { ntfyKind } from './phone/ntfy.ts';
import { popupKind } from './here/popup.ts';
import { pushKind } from './here/push.ts';
import { pushbulletKind } from './phone/pushbullet.ts';
import { pushoverKind } from './phone/pushover.ts';
import { rocketKind } from './chat/rocketchat.ts';
import { signalKind } from './chat/signal.ts';
import { slackKind } from './chat/slack.ts';
import { teamsKind, workflowKind } from './chat/teams.ts';
import { remoteSyslogKind, syslogKind } from './here/syslog.ts';
import { telegramKind } from './chat/telegram.ts';
import { xmlKind } from './program/xml.ts';
import { kodiKind } from './home/kodi.ts';
import { mqttKind } from './home/mqtt.ts';
import { nextcloudKind, nextcloudTalkKind } from './chat/nextcloud.ts';
import { opsgenieKind } from './duty/opsgenie.ts';
import { pagerDutyKind } from './duty/pagerduty.ts';
import { iftttKind, joinKind, prowlKind, pushsaferKind, simplePushKind } from './phone/phones.ts';
import { synologyKind } from './chat/synology.ts';
import { twilioKind } from './phone/twilio.ts';
import { zulipKind } from './chat/zulip.ts';
import { dingTalkKind, feishuKind, larkKind, pushplusKind, serverChanKind, weComKind } from './chat/china.ts';
import { laMetricKind } from './home/lametric.ts';
import { mailgunKind, postmarkKind, resendKind, sendGridKind } from './mail/mail-services.ts';
import { mastodonKind } from './chat/mastodon.ts';
import { lineKind, notifiarrKind, webexKind, whatsAppKind } from './chat/messengers.ts';
import { noticaKind } from './phone/notica.ts';
import { snsKind } from './phone/sns.ts';
import { splunkKind } from './duty/splunk.ts';
import { toStandardUrl } from './standard-url.ts';
import { commonArguments } from './options.ts';
import { parseDestinationUrl, type DestinationUrl } from './url.ts';

/** All native kinds of destinations. A new one needs a file in this folder and an entry in this list. */
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

/** Label of all services that the Apprise library delivers to; separate labels would be too many. */
export const engineLabel = 'engine';

/** Returns the label of a service in the metrics. */
export function getLabel(service: string): string {
  return kinds.find((kind) => kind.service === service)?.label ?? engineLabel;
}

/** Returns true for a URL of a native kind, valid or not. */
export function isNativeUrl(text: string): boolean {
  const url = parseDestinationUrl(text);
  return url !== undefined && byScheme.has(toStandardUrl(url).scheme);
}

/**
 * Returns the destination of a URL, or a sentence that explains why there is none. The sentence contains no part of
 * the URL. `parseOther` handles URLs that are not native.
 */
export function parseDestination(
  text: string,
  parseOther?: (text: string) => Destination | string,
): Destination | string {
  const typed = parseDestinationUrl(text);
  if (typed === undefined) return problems.notAnAddress();
  const url = toStandardUrl(typed);
  const kind = byScheme.get(url.scheme);
  if (kind !== undefined) return addIgnoredArguments(kind, url, kind.parse(url));
  return parseOther === undefined ? problems.schemeUnsupported({ scheme: url.scheme }) : parseOther(text);
}

/** Arguments of every URL: targets, and settings of the library's cache and clock, which Homeport does not need. */
const commonTargetArguments = ['to', 'schema', 'verify', 'store', 'tz', 'user', 'pass', 'password', 'port'];

/** Lists the arguments that a destination of this kind does not use. */
function addIgnoredArguments(
  kind: DestinationKind,
  url: DestinationUrl,
  parsed: Destination | string,
): Destination | string {
  if (typeof parsed === 'string') return parsed;
  const used = new Set<string>([
    ...kind.args,
    ...(kind.movedArguments ?? []),
    ...commonArguments,
    ...commonTargetArguments,
  ]);
  const ignored = [...url.query.keys()].filter((name) => !used.has(name));
  return ignored.length === 0 ? parsed : { ...parsed, ignored };
}

/** Returns the stable ID of a destination: a hash of its URL. */
export function destinationId(destination: Destination): string {
  return createHash('sha256').update(destination.url(false)).digest('hex').slice(0, 16);
}
