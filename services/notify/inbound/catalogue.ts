import type { NotificationContent, TextFormat } from '../../contracts/notify/notification.ts';
import { alertmanager } from './alertmanager.ts';
import { arr } from './arr.ts';
import { googleChat, teams, workChat } from './cards.ts';
import { discord, slack } from './chats.ts';
import { forge } from './forge.ts';
import { generic } from './generic.ts';
import { gitlab } from './gitlab.ts';
import { grafana, legacyGrafana } from './grafana.ts';
import { healthchecks } from './healthchecks.ts';
import { readPayload } from './payload.ts';
import { writeLines, type InboundAdapter } from './adapter.ts';
import { seerr } from './seerr.ts';
import { uptimeKuma } from './uptime-kuma.ts';
import { watchtower } from './watchtower.ts';

/** Adapters by precedence: specific ones first, the generic one last. */
const adapters: readonly InboundAdapter[] = [
  grafana,
  alertmanager,
  legacyGrafana,
  forge,
  gitlab,
  uptimeKuma,
  arr,
  seerr,
  watchtower,
  healthchecks,
  teams,
  googleChat,
  workChat,
  slack,
  discord,
  generic,
];

/** Source of notifications in Slack's format. */
export const slackSource = slack.name.toLowerCase();

/** Maximum length of an unrecognized payload in a notification. */
const maxRawLength = 4000;

/** Formats an unrecognized payload as JSON. */
export function formatFields(fields: Readonly<Record<string, unknown>>): string {
  const raw = JSON.stringify(fields, undefined, 2);
  return raw.length > maxRawLength ? `${raw.slice(0, maxRawLength)}…` : raw;
}

/** Notification from a recognized payload. */
export interface RecognizedPayload extends Pick<
  NotificationContent,
  'title' | 'body' | 'type' | 'format' | 'link' | 'source'
> {
  /** Requested destinations of the payload, in the form of a `tag` field. */
  readonly tag: unknown;
  /** True for a known program, in whose payload the fields of a notification have other meanings. */
  readonly isKnownProgram: boolean;
}

/**
 * Parses the payload of a known program, which is recognized by its fields or a header. A recognized payload without
 * a message is shown unchanged. Returns undefined for an unknown payload. Call it in the language of the notification.
 */
export function recognizePayload(
  fields: Readonly<Record<string, unknown>>,
  header: (name: string) => string | undefined,
  format: TextFormat,
): RecognizedPayload | undefined {
  const payload = readPayload(fields);
  const adapter = adapters.find(({ matches }) => matches(payload, header));
  if (adapter === undefined) return undefined;
  const isKnownProgram = adapter !== generic;
  const notification = adapter.parse(payload, header);
  const bodyFormat = format === 'markdown' ? 'markdown' : 'text';
  const body = notification === undefined ? '' : (notification.body ?? writeLines(notification.lines, bodyFormat));
  const source = notification?.source ?? adapter.name.toLowerCase();
  if (notification === undefined || (body === '' && notification.title === '')) {
    return {
      title: (adapter.title ?? (() => adapter.name))(),
      body: formatFields(fields),
      type: 'info',
      format: 'text',
      source,
      tag: undefined,
      isKnownProgram,
    };
  }
  const hasOnlyTitle = body === '';
  return {
    title: hasOnlyTitle ? '' : notification.title,
    body: hasOnlyTitle ? notification.title : body,
    type: notification.type,
    source,
    tag: notification.tag,
    isKnownProgram,
    format: notification.body === undefined ? bodyFormat : format,
    ...(notification.link === undefined ? {} : { link: notification.link }),
  };
}
