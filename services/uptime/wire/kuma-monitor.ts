import { formatKumaTime } from '../domain/time-format.ts';
import type { StoredHeartbeat } from '../store/heartbeats.ts';
import type { Tag } from '../store/tags.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import { getTimeoutMs, type RuntimeMonitor } from '../monitoring/monitor-state.ts';
import { redactedFields } from './redacted.ts';

/** Default values of fields; clients of Uptime Kuma expect all of them. */
const defaultFields: Readonly<Record<string, unknown>> = {
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
export function toKumaMonitor(
  monitor: RuntimeMonitor,
  monitors: Monitors,
  tags: ReadonlyMap<number, Tag>,
  withSecrets: boolean,
): Record<string, unknown> {
  const { id, config } = monitor;
  const configuredFields = Object.fromEntries(
    Object.entries(config).filter(([name, value]) => value !== null || !(name in defaultFields)),
  );
  const path = getPath(monitor, monitors);
  const fields = { ...defaultFields, ...configuredFields };
  return {
    ...(withSecrets ? fields : redactedFields(fields)),
    id,
    retryInterval: config.retryInterval ?? config.interval,
    timeout: config.timeout ?? Math.round(getTimeoutMs(config)) / 1000,
    path,
    pathName: path.join(' / '),
    childrenIDs: monitors.findChildren(id).map((child) => child.id),
    forceInactive: config.active && !monitors.isActive(monitor),
    maintenance: monitor.checkState.status === 3,
    tags: getTags(monitor).flatMap(({ tag_id, value }) => {
      const tag = tags.get(tag_id);
      return tag === undefined ? [] : [{ id: tag_id, monitor_id: id, tag_id, value, name: tag.name, color: tag.color }];
    }),
    includeSensitiveData: withSecrets,
  };
}

/** Returns the tags of a monitor. */
export function getTags({ config }: RuntimeMonitor): readonly { readonly tag_id: number; readonly value: string }[] {
  const list = config['tags'];
  if (!Array.isArray(list)) return [];
  return (list as readonly unknown[]).flatMap((one) => {
    const { tag_id: id, value } = (typeof one === 'object' ? one : {}) as { tag_id?: unknown; value?: unknown };
    return typeof id === 'number' ? [{ tag_id: id, value: typeof value === 'string' ? value : '' }] : [];
  });
}

/** Converts a heartbeat into the form that is pushed to clients. */
export function toKumaHeartbeat(heartbeat: StoredHeartbeat): Record<string, unknown> {
  const { monitorId, status, at: current, msg, ping, important, duration, retries } = heartbeat;
  return {
    monitorID: monitorId,
    status,
    time: formatKumaTime(current),
    msg,
    ping,
    important,
    duration,
    retries,
    response: null,
  };
}

/** Converts a heartbeat into the form of lists. */
export function toListedHeartbeat(heartbeat: StoredHeartbeat): Record<string, unknown> {
  const { monitorId, status, at, msg, ping, important, duration, retries } = heartbeat;
  return {
    id: at,
    important: important ? 1 : 0,
    monitor_id: monitorId,
    status,
    msg,
    time: formatKumaTime(at),
    ping,
    duration,
    down_count: 0,
    end_time: formatKumaTime(at + (ping ?? 0)),
    retries,
    response: null,
  };
}

function getPath(monitor: RuntimeMonitor, monitors: Monitors): readonly string[] {
  const names: string[] = [];
  const existingIds = new Set<number>();
  for (let at: RuntimeMonitor | undefined = monitor; at !== undefined && !existingIds.has(at.id);) {
    existingIds.add(at.id);
    names.unshift(at.config.name);
    at = at.config.parent === null ? undefined : monitors.find(at.config.parent);
  }
  return names;
}
