import { z, type ZodType } from 'zod';
import {
  AddBody,
  SelectionBody,
  DeleteBody,
  DownloadRecord,
  Ids,
  Outcome,
  ReorderBody,
  RetryBody,
  SubscriptionSelection,
  SubscribeBody,
  SubscriptionRecord,
  UpdateBody,
} from '../wire/openapi-schemas.ts';

interface RouteDescription {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly summary: string;
  readonly body?: ZodType;
  readonly reply?: ZodType;
  /** Media type of a response that is not JSON. */
  readonly file?: string;
  /** Query parameters. */
  readonly query?: Readonly<Record<string, ZodType>>;
  readonly form?: true;
}

const records = z.array(DownloadRecord);
const withSubscription = Outcome.extend({ subscription: SubscriptionRecord.optional() });

const routes: readonly RouteDescription[] = [
  { method: 'get', path: '/', summary: 'The page, or the way to it.', file: 'text/html' },
  { method: 'get', path: '/robots.txt', summary: 'What search engines leave out.', file: 'text/plain' },
  { method: 'get', path: '/openapi.json', summary: 'This document.', reply: z.looseObject({ openapi: z.string() }) },
  {
    method: 'post',
    path: '/add',
    summary: 'Queues what is behind an address; answers within ten seconds, with the error where there is one by then.',
    body: AddBody,
    reply: Outcome,
  },
  { method: 'post', path: '/cancel-add', summary: 'Gives up what is still being looked at.', reply: Outcome },
  { method: 'post', path: '/start', summary: 'Lets what is pending into the queue.', body: Ids, reply: Outcome },
  { method: 'post', path: '/delete', summary: 'Cancels or forgets; files stay.', body: DeleteBody, reply: Outcome },
  { method: 'post', path: '/retry', summary: 'Puts what failed back.', body: RetryBody, reply: Outcome },
  { method: 'post', path: '/pause', summary: 'Pauses some, or the whole queue.', body: SelectionBody, reply: Outcome },
  { method: 'post', path: '/resume', summary: 'Lets some, or everything, go on.', body: SelectionBody, reply: Outcome },
  {
    method: 'post',
    path: '/reorder',
    summary: 'Moves queued downloads, in the order they are named.',
    body: ReorderBody,
    reply: Outcome,
  },
  {
    method: 'get',
    path: '/history',
    summary: 'All downloads, oldest first in each list.',
    reply: z.object({ done: records, queue: records, pending: records }),
  },
  {
    method: 'get',
    path: '/downloads',
    summary: 'What has ended, newest first.',
    query: {
      limit: z.int().min(0).max(1000),
      offset: z.int().min(0),
      status: z.enum(['finished', 'error']),
      q: z.string().describe('Words of titles and addresses.'),
    },
    reply: z.object({ downloads: records, total: z.int() }),
  },
  {
    method: 'get',
    path: '/status',
    summary: 'Mode, counts, the queue, engines and free space.',
    reply: z.looseObject({
      status: z.literal('ok'),
      mode: z.enum(['sequential', 'concurrent']),
      max_concurrent: z.int(),
      paused: z.boolean(),
      counts: z.record(z.string(), z.int()),
      speed: z.number().describe('Bytes a second, of all together.'),
      queue: records,
      pending: records,
      disk_free: z.number().nullable().describe('Bytes.'),
    }),
  },
  {
    method: 'get',
    path: '/version',
    summary: 'Releases.',
    reply: z.object({ 'yt-dlp': z.string().nullable(), version: z.string() }),
  },
  {
    method: 'get',
    path: '/presets',
    summary: 'Names of the settings’ sets of options.',
    reply: z.object({ presets: z.array(z.string()) }),
  },
  {
    method: 'post',
    path: '/subscribe',
    summary: 'Looks at a channel, playlist or feed from now on; what is there by now counts as seen.',
    body: SubscribeBody,
    reply: withSubscription,
  },
  { method: 'get', path: '/subscriptions', summary: 'All subscriptions.', reply: z.array(SubscriptionRecord) },
  {
    method: 'post',
    path: '/subscriptions/update',
    summary: 'Changes what is named.',
    body: UpdateBody,
    reply: withSubscription,
  },
  { method: 'post', path: '/subscriptions/delete', summary: 'Ends subscriptions.', body: Ids, reply: Outcome },
  {
    method: 'post',
    path: '/subscriptions/check',
    summary: 'Looks for new videos, and answers when it has looked.',
    body: SubscriptionSelection,
    reply: Outcome,
  },
  {
    method: 'get',
    path: '/cookie-status',
    summary: 'Whether there are cookies.',
    reply: Outcome.extend({ has_cookies: z.boolean() }),
  },
  {
    method: 'post',
    path: '/upload-cookies',
    summary: 'Takes a cookies.txt in the Netscape format, 1,000,000 bytes at most.',
    form: true,
    reply: Outcome,
  },
  { method: 'post', path: '/delete-cookies', summary: 'Forgets the cookies.', reply: Outcome },
  {
    method: 'get',
    path: '/download/{path}',
    summary: 'A finished file; ranges are served.',
    file: 'application/octet-stream',
  },
  { method: 'get', path: '/audio_download/{path}', summary: 'The same file.', file: 'application/octet-stream' },
];

const ErrorResponse = z
  .object({ status: z.literal('error'), msg: z.string(), error: z.string().optional(), message: z.string().optional() })
  .meta({ id: 'Refused' });

const uploadContent = {
  'multipart/form-data': {
    schema: {
      type: 'object',
      required: ['cookies'],
      properties: { cookies: { type: 'string', format: 'binary' } },
    },
  },
};

/** Returns the OpenAPI 3.1 document of the service's port; schemas with an id are components. */
export function openApiDocument(): Record<string, unknown> {
  const components = new SchemaComponents();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = describeOperation(route, components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Homeport downloads',
      version: '1',
      description:
        'Bodies are JSON whatever their type says. Answers are as MeTube gives them; `/pause`, `/resume`, ' +
        '`/reorder`, `/status` and `/downloads` are our own. Live events: socket.io 4 below `/socket.io`.',
    },
    servers: [{ url: '/' }],
    paths,
    components: { schemas: components.schemas },
  };
}

/** Collects the schemas with an id, which operations refer to. */
class SchemaComponents {
  readonly #schemas: Record<string, unknown> = {};

  get schemas(): Readonly<Record<string, unknown>> {
    return this.#schemas;
  }

  /** Converts a schema to JSON Schema; a schema with an id becomes a reference. */
  toReference(schema: ZodType): unknown {
    // Wrapped, so that a schema with an id becomes a reference like nested ones.
    const wrapped = z.toJSONSchema(z.object({ it: schema }), {
      io: 'output',
      unrepresentable: 'any',
      override: allowAdditionalProperties,
    });
    const relocated = JSON.parse(JSON.stringify(wrapped).replaceAll('#/$defs/', '#/components/schemas/')) as {
      $defs?: Record<string, Record<string, unknown>>;
      properties: { it: unknown };
    };
    for (const [name, { id: _id, ...definition }] of Object.entries(relocated.$defs ?? {}))
      this.#schemas[name] = definition;
    return relocated.properties.it;
  }

  toJsonContent(schema: ZodType): object {
    return { 'application/json': { schema: this.toReference(schema) } };
  }
}

function describeOperation(route: RouteDescription, components: SchemaComponents): object {
  const { method, path, summary, body, form } = route;
  const parameters = describeParameters(route, components);
  const content = form === true ? uploadContent : body === undefined ? undefined : components.toJsonContent(body);
  return {
    operationId: `${method}${path.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(content === undefined ? {} : { requestBody: { required: true, content } }),
    responses: describeResponses(route, components),
  };
}

function describeParameters({ path, query = {} }: RouteDescription, components: SchemaComponents): readonly object[] {
  const pathParameters = path.includes('{path}')
    ? [{ name: 'path', in: 'path', required: true, schema: { type: 'string' } }]
    : [];
  const queryParameters = Object.entries(query).map(([name, schema]) => ({
    name,
    in: 'query',
    schema: components.toReference(schema),
  }));
  return [...pathParameters, ...queryParameters];
}

function describeResponses({ method, reply, file }: RouteDescription, components: SchemaComponents): object {
  return {
    200: {
      description: 'Done, or `"status": "error"` and why not.',
      content: reply === undefined ? { [file ?? '*/*']: {} } : components.toJsonContent(reply),
    },
    ...(method === 'post'
      ? { 400: { description: 'It cannot be read.', content: components.toJsonContent(ErrorResponse) } }
      : {}),
    default: { description: 'It failed.', content: components.toJsonContent(ErrorResponse) },
  };
}

/** Allows additional fields in responses. */
function allowAdditionalProperties({ jsonSchema }: { jsonSchema: { additionalProperties?: unknown } }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}
