import { z } from 'zod';
import { defineService, type Context, type Service, type ServiceDescriptor } from '../../services/contracts/service.ts';

const Settings = z.object({
  word: z.string().default('').meta({ title: 'Word', description: 'Any word.' }),
});

/** Promise that never settles. */
export const never = (): Promise<never> => new Promise(() => undefined);

/** Service whose behavior a test defines. It has a separate listener. */
export function fixtureService(
  id: string,
  make: (context: Context, settings: z.infer<typeof Settings>) => Partial<Service> = () => ({}),
): ServiceDescriptor<any, any> {
  return defineService({
    id,
    title: id,
    summary: 'For tests.',
    listeners: [{ name: 'http', title: id, protocol: 'http', port: 0 }],
    settings: Settings,
    environment: {},
    migrations: [],
    create: (context, settings) => ({
      http: (_request, response) => void response.end(id),
      start: () => Promise.resolve(),
      health: () => Promise.resolve({ state: 'up', detail: 'fine' }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
      ...make(context, settings),
    }),
  });
}
