import * as m from '#messages/notify-labels';
import { findOwn } from '../find-own.ts';
import { readText, type Text } from '../text.ts';

/** Display titles of kinds whose name in the protocol differs from the usual spelling, or is that of a service. */
const titles: Readonly<Record<string, Text>> = {
  'AWS Simple Notification Service (SNS)': 'Amazon SNS',
  'Cisco Webex Teams': 'Webex',
  HomeAssistant: 'Home Assistant',
  Inbox: m.inboxKind,
  'MQTT Notification': 'MQTT',
  MSTeams: m.teamsConnectorKind,
  'Pager Duty': 'PagerDuty',
  'Power Automate / Workflows (for MSTeams)': 'Microsoft Teams',
  Push: m.pushKind,
  SimplePush: 'Simplepush',
};

/** Returns the display title of a kind of destination. */
export function getKindTitle(service: string): string {
  return readText(findOwn(titles, service) ?? service);
}
