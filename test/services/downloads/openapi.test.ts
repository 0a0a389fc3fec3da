import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMetubeRoutes, type MetubeDependencies } from '../../../services/downloads/metube-api/listener.ts';
import { Settings } from '../../../services/downloads/settings.ts';
import { openRig, type Rig } from './rig.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema?: object }>> }>
  >;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

let rig: Rig;
let document: Document;
beforeAll(async () => {
  rig = await openRig();
  document = await rig.client.get<Document>('/openapi.json');
});
afterAll(async () => await rig[Symbol.asyncDispose]());

/** Routes of the listener, such as `get /history`. */
function served(): readonly string[] {
  // These values are not used before a request arrives.
  const parts = { settings: Settings.parse({}), context: {}, downloads: {}, files: {}, queueing: {} };
  const routes = createMetubeRoutes(parts as unknown as MetubeDependencies);
  return routes.map(({ method, path }) => {
    const documentPath = path.replace('/*path', '/{path}').replace(/^\/(audio_)?download$/, '$&/{path}');
    return `${String(method).toLowerCase()} ${documentPath}`;
  });
}

describe('the OpenAPI document', () => {
  it('lists every route with a summary', () => {
    const named = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(document.openapi).toBe('3.1.0');
    expect(served().length).toBeGreaterThan(20);
    expect(served().filter((route) => !named.includes(route))).toEqual([]);
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { summary, responses } of operations) {
      expect(summary).toMatch(/\.$/);
      expect(Object.keys(responses)).toContain('default');
    }
  });

  it('has consistent schemas', () => {
    const compile = schemas(document);
    const contents = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ requestBody, responses }) => [
        ...Object.values(requestBody?.content ?? {}),
        ...Object.values(responses).flatMap(({ content }) => Object.values(content)),
      ]),
    );
    for (const { schema } of contents) if (schema !== undefined) expect(() => compile(schema)).not.toThrow();
  });

  it('matches the actual responses', async () => {
    const { client, site } = rig;
    await client.post('/add', { url: `${site.address}/s/404`, quality: 'best' });
    await client.post('/add', { url: `${site.address}/single.mp4`, quality: 'best', auto_start: false });
    await client.post('/subscribe', { url: site.publish('Documented', []) });
    const compile = schemas(document);
    for (const path of ['/history', '/status', '/downloads', '/version', '/subscriptions', '/cookie-status']) {
      const schema = document.paths[path]?.['get']?.responses['200']?.content['application/json']?.schema;
      expect([path, compile(schema ?? {}).safeParse(await client.get(path)).error]).toEqual([path, undefined]);
    }
    const body = document.paths['/add']?.['post']?.requestBody?.content['application/json']?.schema ?? {};
    expect(compile(body).safeParse({ url: 'https://video.example', quality: '1080p', format: 'mp4' }).success).toBe(
      true,
    );
    expect(compile(body).safeParse({ quality: 'best' }).success).toBe(false);
  });
});

/** Returns a function that converts a schema of the document into a validator. */
function schemas({ components }: Document) {
  const moved = (schema: unknown): any =>
    JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/'));
  const $defs = moved(components.schemas);
  return (schema: object) =>
    z.fromJSONSchema({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...moved(schema), $defs });
}
