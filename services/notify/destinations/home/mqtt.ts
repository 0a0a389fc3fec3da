import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { formatSendFailure } from '../../../contracts/notify/send-failure.ts';
import type { IClientOptions } from 'mqtt';
import { DeliveryError, type Exchange } from '../exchange.ts';
import {
  choiceField,
  requiredField,
  passwordField,
  serverFields,
  switchField,
  textField,
  userField,
} from '../fields.ts';
import { isYes } from '../options.ts';
import { findConnectionCode, toHandshakeResult, withFailureCode } from '../result.ts';
import { defineScheme } from '../scheme.ts';
import { withPath } from '../url-fields.ts';

/** Final reason codes (MQTT 3.1.1, 3.2.2.3, and 5.0, 3.2.2.2): invalid name or password, not authorized, and so on. */
const finalReasons = new Set([1, 2, 4, 5, 132, 133, 134, 135, 138, 140, 144]);

async function publish(
  broker: string,
  options: IClientOptions,
  exchange: Exchange,
  publication: readonly [topic: string, text: string, qos: 0 | 1 | 2, retain: boolean],
) {
  // Loaded with the first message, because most hosts send none.
  const { connectAsync } = await import('mqtt');
  const [topic, text, qos, retain] = publication;
  const connectTimeout = exchange.options.timeoutMs;
  try {
    const client = await connectAsync(
      broker,
      {
        ...options,
        connectTimeout,
        reconnectPeriod: 0,
        manualConnect: false,
        rejectUnauthorized: exchange.options.verify,
      },
      false,
    );
    const stop = (): void => void client.end(true);
    exchange.signal.addEventListener('abort', stop, { once: true });
    const timer = setTimeout(stop, connectTimeout);
    try {
      await client.publishAsync(topic, text, { qos, retain });
    } finally {
      clearTimeout(timer);
      exchange.signal.removeEventListener('abort', stop);
      await client.endAsync(true);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { code } = error as Error & { code?: unknown };
    const handshakeFailure = toHandshakeResult(code, options.host ?? '', formatSendFailure('MQTT'));
    if (handshakeFailure !== undefined) throw new DeliveryError(handshakeFailure);
    const retryable = !(typeof code === 'number' && finalReasons.has(code));
    throw new DeliveryError({
      ok: false,
      retryable,
      ...withFailureCode(findConnectionCode(error)),
      detail: `${formatSendFailure('MQTT')}: ${exchange.redact(error.message)}`,
    });
  }
}

/** `mqtt://[user:password@]host[:port]/topic[?qos=&retain=&version=&client_id=]`. */
export const mqttKind = defineScheme({
  service: 'MQTT Notification',
  label: 'mqtt',
  handlesLink: true,
  protocols: ['mqtt'],
  secureProtocols: ['mqtts'],
  templates: [
    '{schema}://{host}/{topic}',
    '{schema}://{host}:{port}/{topic}',
    '{schema}://{user}:{password}@{host}:{port}/{topic}',
  ],
  args: ['qos', 'retain', 'version', 'client_id', 'session'],
  titleLimit: 0,
  bodyLimit: 268_435_455,
  overflow: 'upstream',
  form: {
    about: m.mqttAbout,
    fields: [
      ...serverFields,
      requiredField(textField('topic', m.topic, 'path', m.mqttTopicHelp)),
      userField,
      passwordField,
      choiceField('qos', m.qualityOfService, 'query:qos', [
        ['', m.atLeastOnce],
        ['0', m.atMostOnce],
        ['2', m.exactlyOnce],
      ]),
      switchField('retain', m.retain, 'query:retain'),
      choiceField('version', m.version, 'query:version', [
        ['', '3.1.1'],
        ['v5', '5.0'],
      ]),
    ],
  },
  normalize: (url) => withPath(url, url.path),
  open({ url, secure, argument }) {
    const topic = url.path.join('/');
    if (topic === '' || /[+#\0]/.test(topic)) return problems.mqttTopicInvalid({ example: 'mqtt://host/topic' });
    const qos = ({ 0: 0, 1: 1, 2: 2 } as const)[argument('qos') ?? '1'];
    if (qos === undefined) return problems.argumentInvalid({ name: 'qos', values: '0, 1, 2' });
    const version = argument('version')?.toLowerCase().replace(/^v/, '') ?? '3.1.1';
    const protocolVersion = ({ '3.1': 3, '3.1.1': 4, '5': 5, '5.0': 5 } as const)[version];
    if (protocolVersion === undefined) return problems.argumentInvalid({ name: 'version', values: 'v3.1, v3.1.1, v5' });
    const host = url.host.replace(/^\[|\]$/g, '');
    const clientOptions: IClientOptions = {
      host,
      port: url.port ?? (secure ? 8883 : 1883),
      protocol: secure ? 'mqtts' : 'mqtt',
      protocolVersion,
      ...(protocolVersion === 3 ? { protocolId: 'MQIsdp' as const } : {}),
      clean: !isYes(argument('session'), false),
      ...(argument('client_id') === undefined ? {} : { clientId: argument('client_id') ?? '' }),
      ...(url.user === undefined ? {} : { username: url.user }),
      ...(url.password === undefined ? {} : { password: url.password }),
    };
    const broker = `${secure ? 'mqtts' : 'mqtt'}://${url.host}`;
    return ({ body }, exchange) =>
      publish(broker, clientOptions, exchange, [topic, body, qos, isYes(argument('retain'), false)]);
  },
});
