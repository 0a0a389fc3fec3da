import { implement, type ApiHandler } from '../../contracts/api.ts';
import { dataPoliciesApi } from '../../contracts/data/policies.ts';
import { dataSchemaApi } from '../../contracts/data/schema.ts';
import type { SchemaOptions } from '../schema/catalog.ts';
import { readDiagram } from '../schema/diagram.ts';
import { changeExtension, listExtensions } from '../schema/extensions.ts';
import { dropFunction, listFunctions, readFunction } from '../schema/functions.ts';
import { createIndex, dropIndex, listIndexes } from '../schema/indexes.ts';
import { changePolicy } from '../schema/policies.ts';
import { listPolicyRoles, listRoles } from '../schema/roles.ts';
import { changeTrigger, dropTrigger, listTriggers, type TriggerName } from '../schema/triggers.ts';
import { readTableShape } from './table-shape.ts';

type Params = Readonly<Record<string, string>>;
const done = { ok: true } as const;

/** Creates the routes for schema objects: diagram, indexes, triggers, functions, extensions and roles. */
export function createSchemaRoutes(options: SchemaOptions): readonly ApiHandler[] {
  const toTrigger = ({ schema = '', table = '', name = '' }: Params): TriggerName => ({ schema, table, name });
  return [
    implement(dataSchemaApi.diagram, () => readDiagram(options)),
    implement(dataSchemaApi.indexes, () => listIndexes(options)),
    implement(dataSchemaApi.createIndex, async ({ body }) => {
      await createIndex(options, body);
      return done;
    }),
    implement(dataSchemaApi.dropIndex, async ({ params: { schema = '', name = '' } }) => ({
      undo: await dropIndex(options, schema, name),
    })),
    implement(dataSchemaApi.triggers, async () => ({ triggers: await listTriggers(options) })),
    implement(dataSchemaApi.changeTrigger, async ({ params, body: { enabled } }) => {
      await changeTrigger(options, toTrigger(params), enabled);
      return done;
    }),
    implement(dataSchemaApi.dropTrigger, async ({ params }) => ({
      undo: await dropTrigger(options, toTrigger(params)),
    })),
    implement(dataSchemaApi.functions, async () => ({ functions: await listFunctions(options) })),
    implement(dataSchemaApi.function, ({ params: { id = '' } }) => readFunction(options, id)),
    implement(dataSchemaApi.dropFunction, async ({ params: { id = '' } }) => ({
      undo: await dropFunction(options, id),
    })),
    implement(dataSchemaApi.extensions, async () => ({ extensions: await listExtensions(options) })),
    implement(dataSchemaApi.changeExtension, async ({ params: { name = '' }, body: { enabled } }) => {
      await changeExtension(options, name, enabled);
      return done;
    }),
    implement(dataSchemaApi.roles, async () => ({ roles: await listRoles(options) })),
  ];
}

/** Creates the routes for row policies. */
export function createPolicyRoutes({ database, settings }: SchemaOptions): readonly ApiHandler[] {
  const readReference = async (params: Params): Promise<string> => {
    const shape = await database.withCatalogue((pool) => readTableShape(pool, settings.schemas, params));
    return shape.reference;
  };
  return [
    implement(dataPoliciesApi.roles, async () => ({ roles: await listPolicyRoles({ database }) })),
    implement(dataPoliciesApi.create, async ({ params, body }) => {
      await changePolicy(database, { table: await readReference(params), policy: body });
      return done;
    }),
    implement(dataPoliciesApi.replace, async ({ params, body }) => {
      const table = await readReference(params);
      await changePolicy(database, { table, previousName: params['policy'], policy: body });
      return done;
    }),
    implement(dataPoliciesApi.remove, async ({ params }) => {
      await changePolicy(database, { table: await readReference(params), previousName: params['policy'] ?? '' });
      return done;
    }),
  ];
}
