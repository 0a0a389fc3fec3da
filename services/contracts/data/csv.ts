import * as m from '#messages/data-problems';
import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';

/** Column types for imported files, narrowest first. */
export const DataCsvType = z.enum(['boolean', 'bigint', 'numeric', 'date', 'timestamptz', 'uuid', 'jsonb', 'text']);
export type DataCsvType = z.infer<typeof DataCsvType>;

/** Maximum size of an imported file. */
export const maxCsvBytes = 64 * 1024 * 1024;

/** First rows of a CSV file and the column types found in it. */
export const DataCsvPreview = z
  .object({
    columns: z.array(z.object({ name: z.string(), type: DataCsvType })),
    /** First rows. */
    rows: z.array(z.array(z.string())),
    count: z.int(),
  })
  .meta({ id: 'DataCsvPreview' });
export type DataCsvPreview = z.infer<typeof DataCsvPreview>;

/** Routes for CSV files with column names in the first line, for administrators. */
export const dataCsvApi = {
  preview: defineRoute({
    method: 'POST',
    path: '/api/data/csv/preview',
    summary: 'Returns the contents of a CSV file and the detected column types.',
    access: 'admin',
    bytes: true,
    reply: DataCsvPreview,
  }),
  load: defineRoute({
    method: 'POST',
    path: '/api/data/csv/load',
    summary:
      'Imports the lines of a CSV file into a table: either all of them or none. With `types`, the table is ' +
      'created with row-level security enabled.',
    access: 'admin',
    query: z.object({
      schema: z.string().min(1).max(63),
      table: z.string().trim().min(1, { error: m.nameRequired }).max(63),
      /** JSON list with the table column for each column of the file; empty to skip the column. */
      columns: z.string().max(200_000),
      /**
       * JSON list with the type of each column of the file when the table is to be created; empty for an existing
       * table.
       */
      types: z.string().max(100_000).default(''),
    }),
    bytes: true,
    reply: z.object({ rows: z.int() }),
  }),
  save: defineRoute({
    method: 'GET',
    path: '/api/data/tables/:schema/:name/csv',
    summary: 'Returns a table as a CSV file, ordered by its key, up to 64 MiB.',
    access: 'admin',
    reply: fileReply,
  }),
};
