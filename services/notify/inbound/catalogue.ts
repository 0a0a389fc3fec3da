import type { NotificationContent, TextFormat } from '../../contracts/notify/notification.ts';
import { alertmanager } from './alertmanager.ts';
import { arr } from './arr.ts';
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

/** In this order: who is sure of itself comes first, who takes any text last. */
const adapters: readonly InboundAdapter[] = [
  ...[grafana, alertmanager, legacyGrafana, forge, gitlab, uptimeKuma, arr, seerr, watchtower, healthchecks],
  ...[slack, discord, generic],
];

/** The source of notices that were written for Slack. */
export const slackSource = slack.name.toLowerCase();

/** Characters of a payload that is shown as it came. */
const maxRawLength = 4000;

/** Writes a payload that nobody understands as it came. */
export function formatFields(fields: Readonly<Record<string, unknown>>): string {
  const raw = JSON.stringify(fields, undefined, 2);
  return raw.length > maxRawLength ? `${raw.slice(0, maxRawLength)}…` : raw;
}

/** A payload in the words of a notice. */
export interface RecognizedPayload extends Pick<
  NotificationContent,
  'title' | 'body' | 'type' | 'format' | 'link' | 'source'
> {
  /** What the payload itself says about its destinations, in the form of a `tag` field. */
  readonly tag: unknown;
  /** True for the payload of a known program, whose other fields mean something else than those of a notification. */
  readonly isKnownProgram: boolean;
}

/**
 * What the payload of a known program says. It is known by its shape or by a header, never by a guess; one that is known
 * but says nothing is shown as it came. Undefined for a payload of nobody.
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
      title: adapter.name,
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
    ...{ type: notification.type, source, tag: notification.tag, isKnownProgram },
    format: notification.body === undefined ? bodyFormat : format,
    ...(notification.link === undefined ? {} : { link: notification.link }),
  };
}
