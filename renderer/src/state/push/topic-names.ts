import * as m from '#messages/state';

/** Severities in the middle part of a topic's name. */
export const severities = ['info', 'warning', 'error', 'critical'] as const;

/** Categories by convention; others are possible. */
export const categories = ['backup', 'monitoring', 'deployment', 'security', 'maintenance'];

/** Parts of the name of a topic in the form `service-severity-category`. */
export interface TopicParts {
  readonly service: string;
  readonly severity: (typeof severities)[number];
  readonly category: string;
}

/** Parses the name of a topic; undefined for a name of another form. */
export function parseTopicName(name: string): TopicParts | undefined {
  const [, service, severity, category] = /^(.+)-(info|warning|error|critical)-([^-]+)$/.exec(name) ?? [];
  if (service === undefined || category === undefined) return undefined;
  return { service, severity: severity as TopicParts['severity'], category };
}

/** Returns the priorities of messages, the default first, and their labels. */
export function listPriorities() {
  return [
    ['3', m.defaultPriority()],
    ['5', m.urgentPriority()],
    ['4', m.highPriority()],
    ['2', m.lowPriority()],
    ['1', m.lowestPriority()],
  ] as const;
}

/**
 * Returns the priority for the severity of a topic: low for information, and high enough to pass quiet hours for
 * errors.
 */
export function getSuggestedPriority(topic: string): ReturnType<typeof listPriorities>[number][0] {
  const severity = parseTopicName(topic)?.severity;
  return severity === undefined ? '3' : ({ info: '2', warning: '3', error: '4', critical: '5' } as const)[severity];
}

/** Formats a duration given in seconds. */
export function formatSeconds(seconds: number): string {
  const hours = seconds / 3600;
  if (hours < 1) return m.minutes({ count: Math.round(seconds / 60) });
  return hours < 48 ? m.hours({ count: Math.round(hours) }) : m.days({ count: Math.round(hours / 24) });
}

/** True when the text repeats the title, as some programs send a single line as both. */
export function isTitleRepeated({ title, message }: { readonly title: string; readonly message: string }): boolean {
  return title !== '' && title.trim() === message.trim();
}

export function formatPriority(priority: number): string {
  return listPriorities().find(([key]) => key === String(priority))?.[1] ?? String(priority);
}

/** Returns the tone of the tag for a priority. */
export function getPriorityTone(priority: number): 'bad' | 'warn' | 'plain' {
  return priority === 5 ? 'bad' : priority === 4 ? 'warn' : 'plain';
}

/** Returns the link that opens the ntfy app to subscribe: the address of the server without its scheme. */
export function buildAppLink(address: string, topic: string): string {
  const { protocol, host } = new URL(address);
  return `ntfy://${host}/${topic}${protocol === 'http:' ? '?secure=false' : ''}`;
}
