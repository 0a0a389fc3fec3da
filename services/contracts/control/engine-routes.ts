import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { EngineState } from './engines.ts';

/** Routes for the engines. */
export const engineRoutes = {
  engines: defineRoute({
    method: 'GET',
    path: '/api/engines',
    summary: 'Lists the external programs and their versions.',
    access: 'admin',
    reply: z.object({ engines: z.array(EngineState) }),
  }),
  installEngine: defineRoute({
    method: 'POST',
    path: '/api/engines/:name/install',
    summary:
      'Installs or updates an engine and verifies it. With `wait=false`, the response is sent when the ' +
      'installation has started.',
    access: 'admin',
    query: z.object({ wait: z.enum(['true', 'false']).default('true') }),
    reply: EngineState,
  }),
  verifyEngine: defineRoute({
    method: 'POST',
    path: '/api/engines/:name/verify',
    summary: 'Searches for an engine again and reads its version.',
    access: 'admin',
    reply: EngineState,
  }),
  removeEngine: defineRoute({
    method: 'DELETE',
    path: '/api/engines/:name',
    summary: 'Removes an engine that Homeport installed. Programs installed on the system are kept.',
    access: 'admin',
    reply: EngineState,
  }),
};
