import type { Monitor } from '../../../../../services/contracts/uptime/views.ts';

/** Monitor in its form, with all inputs as text. */
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

/** Types with a host name. Those in `databaseTypes` have a connection string. */
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

export function toMonitorDraft(monitor: Monitor): Draft {
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

/** Converts a draft to API fields; fields of other monitor types are omitted. */
export function toMonitorFields(draft: Draft): Record<string, unknown> {
  const emptyToNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());
  const isWeb = ['http', 'keyword', 'json-query'].includes(draft.type);
  const codes = draft.codes.split(/[\s,]+/).filter((code) => code !== '');
  return {
    type: draft.type,
    name: draft.name,
    interval: emptyToNull(draft.interval) ?? 60,
    maxretries: emptyToNull(draft.maxretries) ?? 0,
    parent: draft.parent === '' ? null : Number(draft.parent),
    notifyTag: emptyToNull(draft.notifyTag),
    upsideDown: draft.upsideDown,
    ...(isWeb || draft.type === 'websocket-upgrade' ? { url: emptyToNull(draft.url), ignoreTls: draft.ignoreTls } : {}),
    ...(isWeb
      ? {
          expiryNotification: draft.expiryNotification,
          accepted_statuscodes: codes,
          authMethod: draft.user.trim() === '' ? null : 'basic',
          basic_auth_user: emptyToNull(draft.user),
          ...(draft.password === '' ? {} : { basic_auth_pass: draft.password }),
        }
      : {}),
    ...(draft.type === 'keyword' ? { keyword: draft.keyword } : {}),
    ...(draft.type === 'json-query'
      ? { jsonPath: emptyToNull(draft.jsonPath), expectedValue: draft.expectedValue }
      : {}),
    ...(hostTypes.includes(draft.type) ? { hostname: emptyToNull(draft.hostname), port: emptyToNull(draft.port) } : {}),
    ...(draft.type === 'mqtt'
      ? {
          mqttTopic: emptyToNull(draft.topic),
          mqttSuccessMessage: emptyToNull(draft.message),
          mqttUsername: emptyToNull(draft.user),
          ...(draft.password === '' ? {} : { mqttPassword: draft.password }),
        }
      : {}),
    ...(databaseTypes.includes(draft.type)
      ? {
          ...(draft.connection.trim() === '' ? {} : { databaseConnectionString: draft.connection.trim() }),
          ...(draft.type === 'postgres' ? { databaseQuery: emptyToNull(draft.query) } : {}),
        }
      : {}),
    ...(draft.type === 'docker'
      ? { docker_host: emptyToNull(draft.docker_host), docker_container: emptyToNull(draft.docker_container) }
      : {}),
  };
}
