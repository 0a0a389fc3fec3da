import type { NotifyDestination } from '../../../../services/contracts/notify/api.ts';

/** Kinds whose name on the wire, which is the peer's, is not how their makers or these pages write it. */
const names: Readonly<Record<string, string>> = {
  'AWS Simple Notification Service (SNS)': 'Amazon SNS',
  'Cisco Webex Teams': 'Webex',
  HomeAssistant: 'Home Assistant',
  'MQTT Notification': 'MQTT',
  MSTeams: 'Microsoft Teams, by a connector',
  'Pager Duty': 'PagerDuty',
  'Power Automate / Workflows (for MSTeams)': 'Microsoft Teams',
  Push: 'Messages',
  SimplePush: 'Simplepush',
};

/** What a kind of destination is called. */
export function kindName(service: string): string {
  return names[service] ?? service;
}

/** What a person calls a destination: by the tags they gave it, for several may be of one kind; else by its kind. */
export function destinationName({ tags, service }: Pick<NotifyDestination, 'tags' | 'service'>): string {
  return tags.length === 0 ? kindName(service) : tags.join(', ');
}
