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
  { method: 'get', path: '/', summary: 'Redirects to the downloads page.', file: 'text/html' },
  { method: 'get', path: '/robots.txt', summary: 'Returns the rules for search engines.', file: 'text/plain' },
  {
    method: 'get',
    path: '/openapi.json',
    summary: 'Returns this document.',
    reply: z.looseObject({ openapi: z.string() }),
  },
  {
    method: 'post',
    path: '/add',
    summary: 'Adds downloads. The response is sent within ten seconds, with an error if one has occurred by then.',
    body: AddBody,
    reply: Outcome,
  },
  {
    method: 'post',
    path: '/cancel-add',
    summary: 'Cancels requests that are still being processed by the extractor.',
    reply: Outcome,
  },
  { method: 'post', path: '/start', summary: 'Starts pending downloads.', body: Ids, reply: Outcome },
  {
    method: 'post',
    path: '/delete',
    summary: 'Cancels downloads, or removes them from the history.',
    body: DeleteBody,
    reply: Outcome,
  },
  { method: 'post', path: '/retry', summary: 'Retries failed downloads.', body: RetryBody, reply: Outcome },
  {
    method: 'post',
    path: '/pause',
    summary: 'Pauses downloads or the whole queue.',
    body: SelectionBody,
    reply: Outcome,
  },
  {
    method: 'post',
    path: '/resume',
    summary: 'Resumes downloads or the whole queue.',
    body: SelectionBody,
    reply: Outcome,
  },
  {
    method: 'post',
    path: '/reorder',
    summary: 'Moves queued downloads, in the given order.',
    body: ReorderBody,
    reply: Outcome,
  },
  {
    method: 'get',
    path: '/history',
    summary: 'Lists all downloads; each list starts with the oldest.',
    reply: z.object({ done: records, queue: records, pending: records }),
  },
  {
    method: 'get',
    path: '/downloads',
    summary: 'Lists finished and failed downloads, newest first.',
    query: {
      limit: z.int().min(0).max(1000),
      offset: z.int().min(0),
      status: z.enum(['finished', 'error']),
      q: z.string().describe('Words to search for in titles and addresses.'),
    },
    reply: z.object({ downloads: records, total: z.int() }),
  },
  {
    method: 'get',
    path: '/status',
    summary: 'Returns the mode, counts, queue, engines and free disk space.',
    reply: z.looseObject({
      status: z.literal('ok'),
      mode: z.enum(['sequential', 'concurrent']),
      max_concurrent: z.int(),
      paused: z.boolean(),
      counts: z.record(z.string(), z.int()),
      speed: z.number().describe('Total in bytes per second.'),
      queue: records,
      pending: records,
      disk_free: z.number().nullable().describe('In bytes.'),
    }),
  },
  {
    method: 'get',
    path: '/version',
    summary: 'Returns the version of yt-dlp.',
    reply: z.object({ 'yt-dlp': z.string().nullable(), version: z.string() }),
  },
  {
    method: 'get',
    path: '/presets',
    summary: 'Lists the names of the option presets in the settings.',
    reply: z.object({ presets: z.array(z.string()) }),
  },
  {
    method: 'post',
    path: '/subscribe',
    summary: 'Subscribes to a channel, playlist or feed. Existing entries count as seen.',
    body: SubscribeBody,
    reply: withSubscription,
  },
  { method: 'get', path: '/subscriptions', summary: 'Lists all subscriptions.', reply: z.array(SubscriptionRecord) },
  {
    method: 'post',
    path: '/subscriptions/update',
    summary: 'Changes the fields in the request.',
    body: UpdateBody,
    reply: withSubscription,
  },
  { method: 'post', path: '/subscriptions/delete', summary: 'Removes subscriptions.', body: Ids, reply: Outcome },
  {
    method: 'post',
    path: '/subscriptions/check',
    summary: 'Checks for new videos. The response is sent after the check.',
    body: SubscriptionSelection,
    reply: Outcome,
  },
  {
    method: 'get',
    path: '/cookie-status',
    summary: 'Returns whether cookies are stored.',
    reply: Outcome.extend({ has_cookies: z.boolean() }),
  },
  {
    method: 'post',
    path: '/upload-cookies',
    summary: 'Stores a cookies.txt file in the Netscape format, up to 1,000,000 bytes.',
    form: true,
    reply: Outcome,
  },
  { method: 'post', path: '/delete-cookies', summary: 'Deletes the cookies.', reply: Outcome },
  {
    method: 'get',
    path: '/download/{path}',
    summary: 'Returns a finished file. Range requests are supported.',
    file: 'application/octet-stream',
  },
  {
    method: 'get',
    path: '/audio_download/{path}',
    summary: 'Returns a file from the audio folder. Range requests are supported.',
    file: 'application/octet-stream',
  },
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
        'Request bodies are parsed as JSON regardless of their content type. Responses have MeTube’s format; `/pause`, ' +
        '`/resume`, `/reorder`, `/status` and `/downloads` are additional routes. Live events are available with ' +
        'socket.io 4 at `/socket.io`.',
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
      description: 'Success, or `"status": "error"` with the reason.',
      content: reply === undefined ? { [file ?? '*/*']: {} } : components.toJsonContent(reply),
    },
    ...(method === 'post'
      ? { 400: { description: 'The request is invalid.', content: components.toJsonContent(ErrorResponse) } }
      : {}),
    default: { description: 'The request failed.', content: components.toJsonContent(ErrorResponse) },
  };
}

/** Allows additional fields in responses. */
function allowAdditionalProperties({ jsonSchema }: { jsonSchema: { additionalProperties?: unknown } }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}
