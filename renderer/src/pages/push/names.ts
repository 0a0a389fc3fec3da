/** The parts of a topic that is named `service-severity-category`. */
export interface TopicParts {
  readonly service: string;
  readonly severity: 'info' | 'warning' | 'error' | 'critical';
  readonly category: string;
}

/** Undefined for a name of another kind. */
export function topicParts(name: string): TopicParts | undefined {
  const [, service, severity, category] = /^(.+)-(info|warning|error|critical)-([^-]+)$/.exec(name) ?? [];
  if (service === undefined || category === undefined) return undefined;
  return { service, severity: severity as TopicParts['severity'], category };
}

/** How a severity is worn. */
export const severityTones = { info: 'plain', warning: 'warn', error: 'bad', critical: 'bad' } as const;

export const priorities = [
  ['3', 'Default'],
  ['5', 'Urgent'],
  ['4', 'High'],
  ['2', 'Low'],
  ['1', 'Lowest'],
] as const;

export function priorityWords(priority: number): string {
  return priorities.find(([key]) => key === String(priority))?.[1] ?? String(priority);
}

/** The link that the ntfy app opens to subscribe: the server's address without its scheme. */
export function appLink(address: string, topic: string): string {
  const { protocol, host } = new URL(address);
  return `ntfy://${host}/${topic}${protocol === 'http:' ? '?secure=false' : ''}`;
}

/** True for an address that only this computer reaches. */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
