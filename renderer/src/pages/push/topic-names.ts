/** How bad a thing is, in the middle of a topic's name. */
export const severities = ['info', 'warning', 'error', 'critical'] as const;

/** What it is about, by convention; others are as good. */
export const categories = ['backup', 'monitoring', 'deployment', 'security', 'maintenance'];

/** The parts of a topic that is named `service-severity-category`. */
export interface TopicParts {
  readonly service: string;
  readonly severity: (typeof severities)[number];
  readonly category: string;
}

/** Undefined for a name of another kind. */
export function topicParts(name: string): TopicParts | undefined {
  const [, service, severity, category] = /^(.+)-(info|warning|error|critical)-([^-]+)$/.exec(name) ?? [];
  if (service === undefined || category === undefined) return undefined;
  return { service, severity: severity as TopicParts['severity'], category };
}

export const priorities = [
  ['3', 'Default'],
  ['5', 'Urgent'],
  ['4', 'High'],
  ['2', 'Low'],
  ['1', 'Lowest'],
] as const;

/** The priority that fits a topic's severity: quiet for what is only to be known, through quiet hours for what is not. */
export function suggestedPriority(topic: string): (typeof priorities)[number][0] {
  const severity = topicParts(topic)?.severity;
  return severity === undefined ? '3' : ({ info: '2', warning: '3', error: '4', critical: '5' } as const)[severity];
}

/** A duration in s, in as few words as tell it. */
export function forHowLong(seconds: number): string {
  const hours = seconds / 3600;
  if (hours < 1) return `${String(Math.round(seconds / 60))} minutes`;
  if (hours < 48) return `${String(Math.round(hours))} ${Math.round(hours) === 1 ? 'hour' : 'hours'}`;
  return `${String(Math.round(hours / 24))} days`;
}

/** Programs that know one line only send it as title and as text: once is enough. */
export function repeatsTitle({ title, message }: { readonly title: string; readonly message: string }): boolean {
  return title !== '' && title.trim() === message.trim();
}

export function priorityWords(priority: number): string {
  return priorities.find(([key]) => key === String(priority))?.[1] ?? String(priority);
}

/** How a priority is worn. */
export function priorityTone(priority: number): 'bad' | 'warn' | 'plain' {
  return priority === 5 ? 'bad' : priority === 4 ? 'warn' : 'plain';
}

/** The link that the ntfy app opens to subscribe: the server's address without its scheme. */
export function appLink(address: string, topic: string): string {
  const { protocol, host } = new URL(address);
  return `ntfy://${host}/${topic}${protocol === 'http:' ? '?secure=false' : ''}`;
}
