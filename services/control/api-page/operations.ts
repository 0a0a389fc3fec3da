import { z } from 'zod';
import type { RouteAccess } from '../../contracts/route-access.ts';
import type { Schema } from './schema-text.ts';

/** Parameter in the path or in the query. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

/** Operation of the API, as the page shows it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  /** First part of the path, by which the page groups operations. */
  readonly group: string;
  readonly access: RouteAccess;
  readonly parameters: readonly Parameter[];
  /** Schema of a JSON body; `bytes` for a body of any other type. */
  readonly body: Schema | 'bytes' | undefined;
  /** Schema of a JSON response; `file` for a response of any type. */
  readonly reply: Schema | 'file' | undefined;
}

/** Operations and named schemas of the API. */
export interface ApiDescription {
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, Schema>>;
}

const SchemaValue = z.custom<Schema>((value) => typeof value === 'object' && value !== null);
const Content = z.record(z.string(), z.object({ schema: SchemaValue.optional() }));
const DocumentOperation = z.object({
  operationId: z.string(),
  summary: z.string().default(''),
  tags: z.array(z.string()).default([]),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.string(),
        required: z.boolean().default(false),
        description: z.string().default(''),
        schema: SchemaValue.default({}),
      }),
    )
    .default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.object({ content: Content.optional() })),
  'x-access': z.custom<RouteAccess>(),
});
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), DocumentOperation)),
  components: z.object({ schemas: z.record(z.string(), SchemaValue) }),
});

/** Reads the operations and schemas of the OpenAPI document of the app API, in the order of the document. */
export function readDocument(document: unknown): ApiDescription {
  const { paths, components } = Document.parse(document);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      summary: operation.summary,
      group: operation.tags[0] ?? 'api',
      access: operation['x-access'],
      parameters: operation.parameters,
      body: readBody(operation.requestBody?.content),
      reply: readReply(operation.responses['200']?.content),
    })),
  );
  return { operations, schemas: components.schemas };
}

function readBody(content: z.infer<typeof Content> | undefined): Schema | 'bytes' | undefined {
  return content === undefined ? undefined : (findJson(content) ?? 'bytes');
}

function readReply(content: z.infer<typeof Content> | undefined): Schema | 'file' | undefined {
  return content === undefined ? undefined : (findJson(content) ?? 'file');
}

function findJson(content: z.infer<typeof Content>): Schema | undefined {
  return content['application/json']?.schema;
}
