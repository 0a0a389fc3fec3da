import * as m from '#messages/uptime-texts';
import { joinNames } from '../../kit/join-names.ts';
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
  readonly sentence: () => string;
}

const isTrue = (value: unknown): boolean => value === true || value === 1;
const isText = (value: unknown): boolean => (typeof value === 'string' && value !== '') || typeof value === 'number';
const hasEntries = (value: unknown): boolean =>
  (Array.isArray(value) && value.length > 0) || (typeof value === 'string' && /[^\s[\]]/.test(value));

const ignored: readonly IgnoredOption[] = [
  {
    field: 'conditions',
    isSet: (value, { type }) => !['dns', 'mqtt', 'postgres'].includes(String(type)) && hasEntries(value),
    sentence: m.conditionsIgnored,
  },
  {
    field: 'proxyId',
    isSet: (value, { type }) => !httpTypes.includes(String(type)) && isText(value),
    sentence: m.proxyIgnored,
  },
  {
    field: 'authMethod',
    types: httpTypes,
    isSet: (value) => isText(value) && !['basic', 'bearer', 'mtls'].includes(String(value)),
    sentence: m.signInMethodUnsupported,
  },
  {
    field: 'domainExpiryNotification',
    isSet: isTrue,
    sentence: m.domainExpiryIgnored,
  },
  {
    field: 'expectedTlsAlert',
    isSet: (value) => isText(value) && value !== 'none',
    sentence: m.tlsAlertIgnored,
  },
  {
    field: 'expiryNotification',
    types: ['websocket-upgrade', 'postgres'],
    isSet: isTrue,
    sentence: m.certificateIgnoredForType,
  },
  {
    field: 'expiryNotification',
    types: ['mqtt'],
    isSet: (value, { hostname }) => isTrue(value) && String(hostname).startsWith('wss:'),
    sentence: m.certificateIgnoredForWebSocket,
  },
  {
    field: 'expiryNotification',
    types: ['port'],
    isSet: (value, { smtpSecurity }) => isTrue(value) && !['secure', 'starttls'].includes(String(smtpSecurity)),
    sentence: m.certificateIgnoredWithoutEncryption,
  },
  {
    field: 'wsIgnoreSecWebsocketAcceptHeader',
    types: ['websocket-upgrade'],
    isSet: isTrue,
    sentence: m.acceptHeaderChecked,
  },
  {
    field: 'saveResponse',
    isSet: isTrue,
    sentence: m.responsesNotStored,
  },
  {
    field: 'ipFamily',
    types: ['dns', 'docker', 'smtp', 'websocket-upgrade', 'mqtt', 'postgres', 'redis', 'ntp'],
    isSet: isText,
    sentence: m.ipFamilyIgnored,
  },
  {
    field: 'smtpSecurity',
    types: ['smtp'],
    isSet: (value) => isText(value) && !['secure', 'starttls', 'nostarttls'].includes(String(value)),
    sentence: m.encryptionUnknown,
  },
  {
    field: 'mqttCheckType',
    types: ['mqtt'],
    isSet: (value) => isText(value) && !['keyword', 'json-query'].includes(String(value)),
    sentence: m.mqttCheckUnknown,
  },
  {
    field: 'jsonPathOperator',
    types: httpTypes,
    isSet: (value, { type }) => type !== 'json-query' && isText(value) && value !== '==',
    sentence: m.jsonQueryIgnored,
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

/** Returns messages about options that are stored without effect; empty when all options apply. */
export function ignoredOptions(monitor: Fields): readonly string[] {
  const type = String(monitor['type']);
  if (!checkedTypes.has(type)) return [m.typeUnsupported({ type })];
  const ignoredFields = new Set(ignored.map(({ field }) => field));
  const sentences = ignored
    .filter(({ field, types, isSet }) => types?.includes(type) !== false && isSet(monitor[field], monitor))
    .map(({ sentence }) => sentence());
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
  return [...sentences, m.optionsWithoutEffect({ names: joinNames(unknown) })];
}

/** Returns false for false, null and empty values. */
function isAsking(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}
