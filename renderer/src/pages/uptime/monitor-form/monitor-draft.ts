import { formatHeaders, parseHeaders } from './request-headers.ts';
import type { Monitor } from '../../../../../services/contracts/uptime/views.ts';

export type BodyFormat = 'json' | 'form' | 'xml';

/** Tag of a monitor. Clients of Uptime Kuma may add a value to it. */
export interface AssignedTag {
  readonly tag_id: number;
  readonly value: string;
}

/** Monitor in its form, with all inputs as text. */
export interface Draft {
  type: string;
  name: string;
  description: string;
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
  method: string;
  /** Headers, one per line: `Name: value`. */
  headers: string;
  body: string;
  bodyFormat: BodyFormat;
  authMethod: string;
  token: string;
  certificate: string;
  privateKey: string;
  user: string;
  password: string;
  codes: string;
  /** ID of the proxy; empty without one. */
  proxy: string;
  parent: string;
  dependsOn: readonly number[];
  tags: readonly AssignedTag[];
  notifyTag: string;
  expiryNotification: boolean;
  ignoreTls: boolean;
  upsideDown: boolean;
}

/** Types with a host name. Those in `databaseTypes` have a connection string. */
export const hostTypes: readonly string[] = ['port', 'ping', 'dns', 'smtp', 'mqtt', 'ntp'];
export const databaseTypes: readonly string[] = ['postgres', 'redis'];

/** Types that can be checked before they are saved. */
export const testableTypes: ReadonlySet<string> = new Set([
  ...['http', 'keyword', 'json-query', 'port', 'dns', 'smtp', 'websocket-upgrade', 'docker', 'ntp', 'mqtt'],
  ...databaseTypes,
]);

export const newDraft: Draft = {
  type: 'http',
  name: '',
  description: '',
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
  method: 'GET',
  headers: '',
  body: '',
  bodyFormat: 'json',
  authMethod: '',
  token: '',
  certificate: '',
  privateKey: '',
  user: '',
  password: '',
  codes: '200-299',
  proxy: '',
  parent: '',
  dependsOn: [],
  tags: [],
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
    description: text(monitor.description),
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
    method: (monitor.method ?? 'GET').toUpperCase(),
    headers: formatHeaders(text(monitor.headers)),
    body: text(monitor.body),
    bodyFormat: monitor.httpBodyEncoding ?? 'json',
    authMethod: monitor.authMethod ?? (text(monitor.basic_auth_user) === '' ? '' : 'basic'),
    token: '',
    certificate: text(monitor.tlsCert),
    privateKey: '',
    user: text(monitor.type === 'mqtt' ? monitor['mqttUsername'] : monitor.basic_auth_user),
    password: '',
    codes: monitor.accepted_statuscodes.join(', '),
    proxy: text(monitor.proxyId),
    parent: text(monitor.parent),
    dependsOn: monitor.dependsOn ?? [],
    tags: (monitor['tags'] ?? []) as readonly AssignedTag[],
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
    description: emptyToNull(draft.description),
    interval: emptyToNull(draft.interval) ?? 60,
    maxretries: emptyToNull(draft.maxretries) ?? 0,
    parent: draft.parent === '' ? null : Number(draft.parent),
    dependsOn: draft.dependsOn.length === 0 ? null : [...draft.dependsOn],
    tags: [...draft.tags],
    notifyTag: emptyToNull(draft.notifyTag),
    upsideDown: draft.upsideDown,
    ...(isWeb || draft.type === 'websocket-upgrade' ? { url: emptyToNull(draft.url), ignoreTls: draft.ignoreTls } : {}),
    ...(isWeb
      ? {
          expiryNotification: draft.expiryNotification,
          accepted_statuscodes: codes,
          proxyId: draft.proxy === '' ? null : Number(draft.proxy),
          ...toRequestFields(draft),
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

/** Methods whose requests have no body. */
export const bodilessMethods: readonly string[] = ['GET', 'HEAD'];

/** Returns the fields of the HTTP request. Secrets that were left empty are omitted, so that the stored ones remain. */
function toRequestFields(draft: Draft): Record<string, unknown> {
  const emptyToNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());
  const hasBody = !bodilessMethods.includes(draft.method) && draft.body.trim() !== '';
  return {
    method: draft.method,
    headers: parseHeaders(draft.headers),
    body: hasBody ? draft.body : null,
    httpBodyEncoding: hasBody ? draft.bodyFormat : null,
    authMethod: emptyToNull(draft.authMethod),
    basic_auth_user: draft.authMethod === 'basic' ? emptyToNull(draft.user) : null,
    ...(draft.password === '' ? {} : { basic_auth_pass: draft.password }),
    ...(draft.token === '' ? {} : { bearer_token: draft.token }),
    ...(draft.authMethod === 'mtls' ? { tlsCert: emptyToNull(draft.certificate) } : {}),
    ...(draft.privateKey === '' ? {} : { tlsKey: draft.privateKey }),
  };
}
