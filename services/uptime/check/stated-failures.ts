import { findCertificateProblem } from '../../contracts/certificates.ts';
import { readText } from '../../contracts/text.ts';
import type { CheckFailureCode, CheckFailureParameters } from '../../contracts/uptime/causes.ts';

/** Failures that the checks state, in English, as clients of Uptime Kuma and the log receive them. */
export const failureSentences: {
  readonly [Code in CheckFailureCode]: (parameters: CheckFailureParameters[Code]) => string;
} = {
  broker_closed: () => 'The broker ended the connection',
  broker_missing: () => 'A broker and a topic are needed',
  broker_refused_topic: () => 'The broker refuses the topic',
  certificate_untrusted: ({ reason }) => {
    const problem = findCertificateProblem(reason);
    return `certificate is not trusted: ${problem === undefined ? reason : `${readText(problem)} (${reason})`}`;
  },
  encoding_unknown: ({ encoding }) => `The answer has an unknown encoding: ${encoding}`,
  endless_greeting: () => 'The greeting has no end',
  engine_address_invalid: () => 'The address of the container engine is none',
  engine_missing: () => 'The container engine is not known any more',
  engine_response_invalid: () => 'The answer is not that of a container engine',
  engine_response_too_long: () => 'The answer of the container engine is too long',
  greeting_unexpected: ({ greeting }) => `The server greets with ${greeting}`,
  headers_invalid: () => 'The headers are not a JSON object',
  host_invalid: ({ host }) => `${host} is not a host name`,
  json_query_empty: () => 'The JSON query found nothing',
  json_query_input: () => 'The answer is too large for a JSON query',
  json_query_memory: ({ limit }) => `The JSON query needs more than ${String(limit)} MB of memory`,
  json_query_output: () => 'The result of the JSON query is too large',
  json_query_queue: () => 'Too many JSON queries are waiting',
  json_query_time: () => 'The JSON query takes too long',
  link_local_refused: ({ address }) =>
    `${address} is a link-local or cloud metadata address, which is not checked. A setting of Uptime allows it`,
  no_greeting: () => 'The server hung up without a greeting',
  no_response: ({ seconds }) => `no answer within ${String(seconds)} s`,
  no_starttls: () => 'The server does not offer STARTTLS',
  not_redis: () => 'What answers is no Redis',
  not_set: () => 'Nobody has set it yet',
  ntp_refused: ({ reason }) => `The server refuses: ${reason}`,
  ntp_unreliable: ({ summary }) => `Not a time to go by. ${summary}`,
  own_port_refused: ({ port }) =>
    `Port ${port} belongs to Homeport itself. Watch its first page or its health page, or use a TCP port monitor`,
  parameter_names_file: ({ name }) =>
    `The parameter ${name} names a file, which is not read. Use the text of the certificate (PEM)`,
  parameter_unsupported: ({ name }) => `The parameter ${name} of a connection string is not supported`,
  postgres_address_invalid: () => 'The connection string begins with postgres://',
  proxy_missing: () => 'The proxy of this monitor no longer exists',
  proxy_refused: ({ address, reason }) => `The proxy ${address} refused the connection: ${reason}`,
  proxy_sign_in_refused: ({ address }) => `The proxy ${address} rejected the user name or password`,
  proxy_unreachable: ({ address, reason }) => `The proxy ${address} cannot be reached: ${reason}`,
  query_ambiguous: () => 'The query returned several values; conditions compare one',
  query_empty: () => 'The query returned no result to compare',
  record_type_unknown: ({ type }) => `There are no records of type ${type}`,
  redirect_invalid: () => 'Redirected to an address that is none',
  redis_address_invalid: () => 'The connection string begins with redis:// or rediss://',
  response_too_large: ({ limit }) => `The server sends more than ${String(limit)} MiB`,
  sign_in_unsupported: ({ method }) => `The sign-in ${method} is not supported`,
  socket_file_refused: () => 'A connection string cannot name a socket file',
  ssl_mode_unknown: ({ mode }) => `There is no sslmode ${mode}`,
  starttls_refused: ({ answer }) => `The server answers STARTTLS with ${answer}`,
};
