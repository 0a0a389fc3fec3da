import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { EngineState } from './engines.ts';

/** Routes for the engines. */
export const engineRoutes = {
  engines: defineRoute({
    method: 'GET',
    path: '/api/engines',
    summary: 'The outside programs and their versions.',
    access: 'admin',
    reply: z.object({ engines: z.array(EngineState) }),
  }),
  installEngine: defineRoute({
    method: 'POST',
    path: '/api/engines/:name/install',
    summary: 'Installs or updates an engine, verified. With `wait=false` it answers once that has begun.',
    access: 'admin',
    query: z.object({ wait: z.enum(['true', 'false']).default('true') }),
    reply: EngineState,
  }),
  verifyEngine: defineRoute({
    method: 'POST',
    path: '/api/engines/:name/verify',
    summary: 'Looks for an engine anew and asks it for its version.',
    access: 'admin',
    reply: EngineState,
  }),
  removeEngine: defineRoute({
    method: 'DELETE',
    path: '/api/engines/:name',
    summary: 'Removes an engine that Homeport installed; programs of the system stay.',
    access: 'admin',
    reply: EngineState,
  }),
};
