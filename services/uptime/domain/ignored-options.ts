import { MonitorConfig } from '../../contracts/uptime/monitor.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Supported monitor types. */
const httpTypes = ['http', 'keyword', 'json-query'];
const checkedTypes = new Set([
  ...httpTypes,
  ...[
    'port',
    'ping',
    'dns',
    'docker',
    'push',
    'group',
    'manual',
    'smtp',
    'websocket-upgrade',
    'mqtt',
    'postgres',
    'redis',
  ],
  'ntp',
]);

/** Option of Uptime Kuma that affects the result of a check there and is not supported here. */
interface IgnoredOption {
  readonly field: string;
  /** Types for which Uptime Kuma applies the option; all types when absent. */
  readonly types?: readonly string[];
  readonly isSet: (value: unknown, monitor: Fields) => boolean;
  readonly sentence: string;
}

const isTrue = (value: unknown): boolean => value === true || value === 1;
const isText = (value: unknown): boolean => (typeof value === 'string' && value !== '') || typeof value === 'number';
const hasEntries = (value: unknown): boolean =>
  (Array.isArray(value) && value.length > 0) || (typeof value === 'string' && /[^\s[\]]/.test(value));

const ignored: readonly IgnoredOption[] = [
  {
    field: 'conditions',
    isSet: (value, { type }) => !['dns', 'mqtt', 'postgres'].includes(String(type)) && hasEntries(value),
    sentence: 'Its conditions are not evaluated for this type.',
  },
  {
    field: 'proxyId',
    isSet: isText,
    sentence: 'Its proxy is not used: the target is asked directly.',
  },
  {
    field: 'authMethod',
    types: httpTypes,
    isSet: (value) => isText(value) && !['basic', 'bearer', 'mtls'].includes(String(value)),
    sentence: 'Its sign-in method is not supported, so that it is always down.',
  },
  {
    field: 'domainExpiryNotification',
    isSet: isTrue,
    sentence: 'The expiry of its domain name is not watched.',
  },
  {
    field: 'expectedTlsAlert',
    isSet: (value) => isText(value) && value !== 'none',
    sentence: 'The expected TLS alert is not checked.',
  },
  {
    field: 'expiryNotification',
    types: ['websocket-upgrade', 'postgres'],
    isSet: isTrue,
    sentence: 'Its certificate is not watched for this type.',
  },
  {
    field: 'expiryNotification',
    types: ['mqtt'],
    isSet: (value, { hostname }) => isTrue(value) && String(hostname).startsWith('wss:'),
    sentence: 'Its certificate is not watched over WebSocket.',
  },
  {
    field: 'expiryNotification',
    types: ['port'],
    isSet: (value, { smtpSecurity }) => isTrue(value) && !['secure', 'starttls'].includes(String(smtpSecurity)),
    sentence: 'Its certificate is not watched, since the encryption of the port is not set.',
  },
  {
    field: 'wsIgnoreSecWebsocketAcceptHeader',
    types: ['websocket-upgrade'],
    isSet: isTrue,
    sentence: 'A wrong Sec-WebSocket-Accept header counts as a failure.',
  },
  {
    field: 'saveResponse',
    isSet: isTrue,
    sentence: 'Its responses are not stored.',
  },
  {
    field: 'ipFamily',
    types: ['dns', 'docker', 'smtp', 'websocket-upgrade', 'mqtt', 'postgres', 'redis', 'ntp'],
    isSet: isText,
    sentence: 'The IP family is not selected for this type.',
  },
  {
    field: 'smtpSecurity',
    types: ['smtp'],
    isSet: (value) => isText(value) && !['secure', 'starttls', 'nostarttls'].includes(String(value)),
    sentence: 'Its encryption setting is unknown and not acted on.',
  },
  {
    field: 'mqttCheckType',
    types: ['mqtt'],
    isSet: (value) => isText(value) && !['keyword', 'json-query'].includes(String(value)),
    sentence: 'Its kind of MQTT check is unknown: only the keyword is checked.',
  },
  {
    field: 'jsonPathOperator',
    types: httpTypes,
    isSet: (value, { type }) => type !== 'json-query' && isText(value) && value !== '==',
    sentence: 'Its JSON query is only evaluated by monitors of the type json-query.',
  },
];

/** Fields that clients of Uptime Kuma send with every monitor, or that do not affect the check. */
const optionsWithoutEffect = new Set([
  ...[
    'id',
    'path',
    'pathName',
    'childrenIDs',
    'forceInactive',
    'maintenance',
    'includeSensitiveData',
    'state',
    'secrets',
  ],
  ...['tags', 'notificationIDList', 'user_id', 'created_date', 'createdDate', 'userId', 'provisioned', 'screenshot'],
  ...[
    'dns_last_result',
    'dnsLastResult',
    'location',
    'protocol',
    'subtype',
    'packetSize',
    'game',
    'gamedigGivenPortOnly',
  ],
  ...['mqttTopic', 'mqttSuccessMessage', 'mqttUsername', 'mqttPassword', 'mqttWebsocketPath', 'databaseQuery'],
  ...[
    'databaseConnectionString',
    'grpcUrl',
    'grpcProtobuf',
    'grpcMethod',
    'grpcServiceName',
    'grpcEnableTls',
    'grpcBody',
  ],
  ...[
    'grpcMetadata',
    'radiusCalledStationId',
    'radiusCallingStationId',
    'radiusUsername',
    'radiusPassword',
    'radiusSecret',
  ],
  ...['system_service_name', 'kafkaProducerTopic', 'kafkaProducerBrokers', 'kafkaProducerSsl', 'kafkaProducerMessage'],
  ...[
    'kafkaProducerAllowAutoTopicCreation',
    'kafkaProducerSaslOptions',
    'remote_browser',
    'screenshot_delay',
    'snmpOid',
  ],
  ...['snmpVersion', 'snmp_v3_username', 'snmp_v3_auth_password', 'snmp_v3_priv_password', 'rabbitmqNodes'],
  ...['rabbitmqUsername', 'rabbitmqPassword', 'ntpStratumThreshold', 'ntpTimeOffsetThreshold'],
  ...['ntpRootDispersionThreshold', 'ping_numeric', 'ping_count', 'ping_per_request_timeout', 'saveErrorResponse'],
  ...[
    'responseMaxLength',
    'oauth_client_id',
    'oauth_client_secret',
    'oauth_token_url',
    'oauth_scopes',
    'oauth_audience',
  ],
  ...['oauth_auth_method', 'gamedigToken', 'authWorkstation', 'authDomain', 'wsSubprotocol', 'httpBodyEncoding'],
  ...['getUrl', 'humanReadableInterval', 'globalpingdnsresolvetypeoptions'],
  // Written by the settings that provision monitors.
  'provisionedBy',
]);
const maxUnknownNames = 5;

/** Returns messages about options that are stored without effect; empty when all options apply. */
export function ignoredOptions(monitor: Fields): readonly string[] {
  const type = String(monitor['type']);
  if (!checkedTypes.has(type)) return [`Monitors of the type ${type} are not supported, so that it is always down.`];
  const ignoredFields = new Set(ignored.map(({ field }) => field));
  const sentences = ignored
    .filter(({ field, types, isSet }) => types?.includes(type) !== false && isSet(monitor[field], monitor))
    .map(({ sentence }) => sentence);
  const unknown = Object.entries(monitor)
    .filter(
      ([name, value]) =>
        !(name in MonitorConfig.shape) &&
        !ignoredFields.has(name) &&
        !optionsWithoutEffect.has(name) &&
        isAsking(value),
    )
    .map(([name]) => name);
  if (unknown.length === 0) return sentences;
  const names = unknown.slice(0, maxUnknownNames).join(', ');
  const more = unknown.length > maxUnknownNames ? ` and ${String(unknown.length - maxUnknownNames)} more` : '';
  return [...sentences, `These options are stored and have no effect: ${names}${more}.`];
}

/** Returns false for false, null and empty values. */
function isAsking(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}
