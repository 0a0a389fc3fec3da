import { beatStatus } from '../../contracts/uptime/monitor.ts';
import { CheckFailure } from './failure.ts';
import { matchesJson } from './json-query.ts';
import type { Found, ProbeOrder } from './probe.ts';

const longestMessage = 1024 * 1024;

/** MQTT: a message comes on the topic in time, and holds the keyword or the value that is asked for. */
export async function probeMqtt({ config, signal }: ProbeOrder): Promise<Found> {
  const field = (name: string): string => (typeof config[name] === 'string' ? config[name] : '');
  const topic = field('mqttTopic');
  const host = config.hostname ?? '';
  const scheme = /^(mqtts?|wss?):\/\//.test(host) ? '' : 'mqtt://';
  const url = URL.parse(`${scheme}${host}`);
  if (url === null || topic === '') throw new CheckFailure('A broker and a topic are needed');
  if (config.port !== null) url.port = String(config.port);
  if (url.protocol.startsWith('ws')) url.pathname = field('mqttWebsocketPath') || url.pathname;
  // Loaded by the first of these: most have none.
  const { default: mqtt } = await import('mqtt');
  signal.throwIfAborted();
  const client = mqtt.connect(url.href, {
    ...{ reconnectPeriod: 0, connectTimeout: 600_000, clean: true, rejectUnauthorized: config.ignoreTls !== true },
    ...(config.tlsCa ? { ca: config.tlsCa } : {}),
    ...(field('mqttUsername') === '' ? {} : { username: field('mqttUsername'), password: field('mqttPassword') }),
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  promise.catch(() => undefined);
  const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
  signal.addEventListener('abort', abort, { once: true });
  client.on('error', reject);
  client.on('close', () => reject(new CheckFailure('The broker ended the connection')));
  client.on('connect', () => {
    client.subscribe(topic, (error, granted) => {
      if (error) reject(error);
      else if (granted?.[0] !== undefined && granted[0].qos > 2) reject(new CheckFailure('The broker refuses the topic')); // prettier-ignore
    });
  });
  client.on('message', (_topic, message) => resolve(message.subarray(0, longestMessage).toString('utf8')));
  try {
    const message = await promise;
    const shown = `Topic: ${topic}; Message: ${message.slice(0, 200)}`;
    if (field('mqttCheckType') === 'json-query') {
      const { holds, value } = await matchesJson({
        text: message,
        path: field('jsonPath'),
        operator: config.jsonPathOperator ?? '==',
        expected: field('expectedValue'),
      });
      if (!holds) throw new CheckFailure(`The value ${value} is not as expected - Topic: ${topic}`);
    } else if (!message.includes(field('mqttSuccessMessage'))) {
      throw new CheckFailure(`Message mismatch - ${shown}`);
    }
    return { status: beatStatus.up, msg: shown };
  } finally {
    signal.removeEventListener('abort', abort);
    client.end(true);
  }
}
