import { findOwn } from '../find-own.ts';

/** Display titles of kinds whose name in the protocol differs from the usual spelling. */
const titles: Readonly<Record<string, string>> = {
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

/** Returns the display title of a kind of destination. */
export function getKindTitle(service: string): string {
  return findOwn(titles, service) ?? service;
}
