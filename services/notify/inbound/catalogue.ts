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
import { readPart } from './part.ts';
import { writeLines, type Program } from './reading.ts';
import { seerr } from './seerr.ts';
import { uptimeKuma } from './uptime-kuma.ts';
import { watchtower } from './watchtower.ts';

/** In this order: who is sure of itself comes first, who takes any text last. */
const programs: readonly Program[] = [
  ...[grafana, alertmanager, legacyGrafana, forge, gitlab, uptimeKuma, arr, seerr, watchtower, healthchecks],
  ...[teams, googleChat, workChat, slack, discord, generic],
];

/** The source of notices that were written for Slack. */
export const slackSource = slack.name.toLowerCase();

/** Characters of a payload that is shown as it came. */
const longestRaw = 4000;

/** Writes a payload that nobody understands as it came. */
export function showFields(fields: Readonly<Record<string, unknown>>): string {
  const raw = JSON.stringify(fields, undefined, 2);
  return raw.length > longestRaw ? `${raw.slice(0, longestRaw)}…` : raw;
}

/** A payload in the words of a notice. */
export interface Recognised extends Pick<
  NotificationContent,
  'title' | 'body' | 'type' | 'format' | 'link' | 'source'
> {
  /** What the payload itself says about its destinations, in the form of a `tag` field. */
  readonly tag: unknown;
  /** True for the payload of a known program, whose other fields mean something else than those of a notification. */
  readonly foreign: boolean;
}

/**
 * What the payload of a known program says. It is known by its shape or by a header, never by a guess; one that is known
 * but says nothing is shown as it came. Undefined for a payload of nobody.
 */
export function recognise(
  fields: Readonly<Record<string, unknown>>,
  header: (name: string) => string | undefined,
  format: TextFormat,
): Recognised | undefined {
  const payload = readPart(fields);
  const program = programs.find(({ claims }) => claims(payload, header));
  if (program === undefined) return undefined;
  const foreign = program !== generic;
  const reading = program.read(payload, header);
  const written = format === 'markdown' ? 'markdown' : 'text';
  const body = reading === undefined ? '' : (reading.body ?? writeLines(reading.lines, written));
  const source = reading?.source ?? program.name.toLowerCase();
  if (reading === undefined || (body === '' && reading.title === '')) {
    return {
      title: program.name,
      body: showFields(fields),
      type: 'info',
      format: 'text',
      source,
      tag: undefined,
      foreign,
    };
  }
  const plain = body === '';
  return {
    title: plain ? '' : reading.title,
    body: plain ? reading.title : body,
    ...{ type: reading.type, source, tag: reading.tag, foreign },
    format: reading.body === undefined ? written : format,
    ...(reading.link === undefined ? {} : { link: reading.link }),
  };
}
