import type { Monitor } from '../../../../services/contracts/uptime/views.ts';

/** A monitor as its form has it: texts, as they are typed. */
export interface Draft {
  type: string;
  name: string;
  url: string;
  keyword: string;
  jsonPath: string;
  expectedValue: string;
  hostname: string;
  port: string;
  connection: string;
  query: string;
  topic: string;
  message: string;
  docker_host: string;
  docker_container: string;
  interval: string;
  maxretries: string;
  user: string;
  password: string;
  codes: string;
  parent: string;
  notifyTag: string;
  expiryNotification: boolean;
  ignoreTls: boolean;
  upsideDown: boolean;
}

/** Kinds that are at a host, and those that a connection string leads to. */
export const hostTypes: readonly string[] = ['port', 'ping', 'dns', 'smtp', 'mqtt', 'ntp'];
export const databaseTypes: readonly string[] = ['postgres', 'redis'];

export const newDraft: Draft = {
  type: 'http',
  name: '',
  url: 'https://',
  keyword: '',
  jsonPath: '',
  expectedValue: '',
  hostname: '',
  port: '',
  connection: '',
  query: '',
  topic: '',
  message: '',
  docker_host: '',
  docker_container: '',
  interval: '60',
  maxretries: '0',
  user: '',
  password: '',
  codes: '200-299',
  parent: '',
  notifyTag: '',
  expiryNotification: true,
  ignoreTls: false,
  upsideDown: false,
};

export function draftOf(monitor: Monitor): Draft {
  const text = (value: unknown): string =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return {
    type: monitor.type,
    name: monitor.name,
    url: text(monitor.url),
    keyword: text(monitor.keyword),
    jsonPath: text(monitor.jsonPath),
    expectedValue: text(monitor.expectedValue),
    hostname: text(monitor.hostname),
    port: text(monitor.port),
    connection: '',
    query: text(monitor['databaseQuery']),
    topic: text(monitor['mqttTopic']),
    message: text(monitor['mqttSuccessMessage']),
    docker_host: text(monitor.docker_host),
    docker_container: text(monitor.docker_container),
    interval: text(monitor.interval),
    maxretries: text(monitor.maxretries),
    user: text(monitor.type === 'mqtt' ? monitor['mqttUsername'] : monitor.basic_auth_user),
    password: '',
    codes: monitor.accepted_statuscodes.join(', '),
    parent: text(monitor.parent),
    notifyTag: text(monitor.notifyTag),
    expiryNotification: monitor.expiryNotification === true,
    ignoreTls: monitor.ignoreTls === true,
    upsideDown: monitor.upsideDown === true,
  };
}

/** The fields to send; what its kind has none of is left as it is. */
export function fieldsOf(draft: Draft): Record<string, unknown> {
  const given = (text: string): string | null => (text.trim() === '' ? null : text.trim());
  const isWeb = ['http', 'keyword', 'json-query'].includes(draft.type);
  const codes = draft.codes.split(/[\s,]+/).filter((code) => code !== '');
  return {
    type: draft.type,
    name: draft.name,
    interval: given(draft.interval) ?? 60,
    maxretries: given(draft.maxretries) ?? 0,
    parent: draft.parent === '' ? null : Number(draft.parent),
    notifyTag: given(draft.notifyTag),
    upsideDown: draft.upsideDown,
    ...(isWeb || draft.type === 'websocket-upgrade' ? { url: given(draft.url), ignoreTls: draft.ignoreTls } : {}),
    ...(isWeb
      ? {
          expiryNotification: draft.expiryNotification,
          accepted_statuscodes: codes,
          authMethod: draft.user.trim() === '' ? null : 'basic',
          basic_auth_user: given(draft.user),
          ...(draft.password === '' ? {} : { basic_auth_pass: draft.password }),
        }
      : {}),
    ...(draft.type === 'keyword' ? { keyword: draft.keyword } : {}),
    ...(draft.type === 'json-query' ? { jsonPath: given(draft.jsonPath), expectedValue: draft.expectedValue } : {}),
    ...(hostTypes.includes(draft.type) ? { hostname: given(draft.hostname), port: given(draft.port) } : {}),
    ...(draft.type === 'mqtt'
      ? {
          mqttTopic: given(draft.topic),
          mqttSuccessMessage: given(draft.message),
          mqttUsername: given(draft.user),
          ...(draft.password === '' ? {} : { mqttPassword: draft.password }),
        }
      : {}),
    ...(databaseTypes.includes(draft.type)
      ? {
          ...(draft.connection.trim() === '' ? {} : { databaseConnectionString: draft.connection.trim() }),
          ...(draft.type === 'postgres' ? { databaseQuery: given(draft.query) } : {}),
        }
      : {}),
    ...(draft.type === 'docker'
      ? { docker_host: given(draft.docker_host), docker_container: given(draft.docker_container) }
      : {}),
  };
}
