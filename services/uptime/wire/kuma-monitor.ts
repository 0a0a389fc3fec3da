import { peerTime } from '../domain/time-format.ts';
import type { StoredBeat } from '../store/heartbeats.ts';
import type { KnownTag } from '../store/tags.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import { timeoutMs, type Watched } from '../monitoring/monitor-state.ts';
import { redactedFields } from './redacted.ts';

/** Default values of fields; clients of Uptime Kuma expect all of them. */
const usual: Readonly<Record<string, unknown>> = {
  description: null,
  wsIgnoreSecWebsocketAcceptHeader: false,
  wsSubprotocol: '',
  location: null,
  protocol: null,
  weight: 2000,
  subtype: null,
  retryOnlyOnStatusCodeFailure: false,
  invertKeyword: false,
  expiryNotification: false,
  domainExpiryNotification: false,
  ignoreTls: false,
  upsideDown: false,
  packetSize: 56,
  dns_resolve_type: 'A',
  dns_resolve_server: '1.1.1.1',
  dns_last_result: null,
  docker_container: '',
  proxyId: null,
  notificationIDList: {},
  mqttTopic: null,
  mqttSuccessMessage: null,
  mqttCheckType: 'keyword',
  databaseQuery: null,
  grpcUrl: null,
  grpcProtobuf: null,
  grpcMethod: null,
  grpcServiceName: null,
  grpcEnableTls: false,
  radiusCalledStationId: null,
  radiusCallingStationId: null,
  game: null,
  gamedigGivenPortOnly: true,
  httpBodyEncoding: 'json',
  system_service_name: null,
  kafkaProducerTopic: null,
  kafkaProducerBrokers: [],
  kafkaProducerSsl: false,
  kafkaProducerAllowAutoTopicCreation: false,
  kafkaProducerMessage: null,
  screenshot: null,
  cacheBust: false,
  remote_browser: null,
  screenshot_delay: 0,
  snmpOid: null,
  snmpVersion: '2c',
  smtpSecurity: null,
  rabbitmqNodes: [],
  conditions: [],
  ntpStratumThreshold: 5,
  ntpTimeOffsetThreshold: 1000,
  ntpRootDispersionThreshold: 500,
  expectedTlsAlert: null,
  ping_numeric: true,
  ping_count: 1,
  ping_per_request_timeout: 2,
  saveResponse: false,
  saveErrorResponse: true,
  responseMaxLength: 1024,
  grpcBody: null,
  grpcMetadata: null,
  oauth_client_id: null,
  oauth_client_secret: null,
  oauth_token_url: null,
  oauth_scopes: null,
  oauth_audience: null,
  oauth_auth_method: null,
  gamedigToken: null,
  databaseConnectionString: null,
  radiusUsername: null,
  radiusPassword: null,
  radiusSecret: null,
  mqttUsername: null,
  mqttPassword: null,
  mqttWebsocketPath: null,
  authWorkstation: null,
  authDomain: null,
  kafkaProducerSaslOptions: { mechanism: 'None' },
  rabbitmqUsername: null,
  rabbitmqPassword: null,
};

/** Converts a monitor into the form of Uptime Kuma. Secrets are included for clients with write permission. */
export function peerMonitor(
  watched: Watched,
  monitors: Monitors,
  tags: ReadonlyMap<number, KnownTag>,
  withSecrets: boolean,
): Record<string, unknown> {
  const { id, config } = watched;
  const given = Object.fromEntries(
    Object.entries(config).filter(([name, value]) => value !== null || !(name in usual)),
  );
  const path = pathOf(watched, monitors);
  const fields = { ...usual, ...given };
  return {
    ...(withSecrets ? fields : redactedFields(fields)),
    id,
    retryInterval: config.retryInterval ?? config.interval,
    timeout: config.timeout ?? Math.round(timeoutMs(config)) / 1000,
    path,
    pathName: path.join(' / '),
    childrenIDs: monitors.children(id).map((child) => child.id),
    forceInactive: config.active && !monitors.isActive(watched),
    maintenance: watched.standing.status === 3,
    tags: tagsOf(watched).flatMap(({ tag_id, value }) => {
      const tag = tags.get(tag_id);
      return tag === undefined ? [] : [{ id: tag_id, monitor_id: id, tag_id, value, name: tag.name, color: tag.color }];
    }),
    includeSensitiveData: withSecrets,
  };
}

/** Returns the tags of a monitor. */
export function tagsOf({ config }: Watched): readonly { readonly tag_id: number; readonly value: string }[] {
  const list = config['tags'];
  if (!Array.isArray(list)) return [];
  return (list as readonly unknown[]).flatMap((one) => {
    const { tag_id: id, value } = (typeof one === 'object' ? one : {}) as { tag_id?: unknown; value?: unknown };
    return typeof id === 'number' ? [{ tag_id: id, value: typeof value === 'string' ? value : '' }] : [];
  });
}

/** Converts a heartbeat into the form that is pushed to clients. */
export function peerBeat(beat: StoredBeat): Record<string, unknown> {
  const { monitorId, status, at, msg, ping, important, duration, retries } = beat;
  return { monitorID: monitorId, status, time: peerTime(at), msg, ping, important, duration, retries, response: null };
}

/** Converts a heartbeat into the form of lists. */
export function listedBeat(beat: StoredBeat): Record<string, unknown> {
  const { monitorId, status, at, msg, ping, important, duration, retries } = beat;
  return {
    id: at,
    important: important ? 1 : 0,
    monitor_id: monitorId,
    status,
    msg,
    time: peerTime(at),
    ping,
    duration,
    down_count: 0,
    end_time: peerTime(at + (ping ?? 0)),
    retries,
    response: null,
  };
}

function pathOf(watched: Watched, monitors: Monitors): readonly string[] {
  const names: string[] = [];
  const seen = new Set<number>();
  for (let at: Watched | undefined = watched; at !== undefined && !seen.has(at.id);) {
    seen.add(at.id);
    names.unshift(at.config.name);
    at = at.config.parent === null ? undefined : monitors.find(at.config.parent);
  }
  return names;
}
