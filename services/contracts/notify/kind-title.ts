import { findOwn } from '../find-own.ts';

/** Kinds whose name on the wire, which is the peer's, is not how their makers or these pages write it. */
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

/** What a kind of destination is called. */
export function getKindTitle(service: string): string {
  return findOwn(titles, service) ?? service;
}
