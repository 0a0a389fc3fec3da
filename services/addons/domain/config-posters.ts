import { z } from 'zod';

const key = z.string().max(500).nullish();

/** Fields of a configuration for posters that show ratings. */
export const posterShape = {
  posterService: z.enum(['rpdb', 'top-poster', 'aioratings', 'openposterdb', 'none']).nullish().catch(null),
  rpdbApiKey: key,
  topPosterApiKey: key,
  aioratingsApiKey: key,
  /** Style that the user created at the service. */
  aioratingsProfileId: z.string().max(200).nullish(),
  openposterdbApiKey: key,
  /** Base address of a self-hosted server. */
  openposterdbUrl: z.string().max(2000).nullish(),
  /** Query parameters, such as `lang=de`. */
  openposterdbParameters: z.string().max(1000).nullish(),
  /** Replaces the posters of metadata as well, which players show for the library and for started titles. */
  usePosterServiceForMeta: z.boolean().nullish(),
};
