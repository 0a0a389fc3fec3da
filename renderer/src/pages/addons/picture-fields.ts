/** Services that draw posters with ratings: what each needs to be told. */
export const posterServices: readonly (readonly [
  id: string,
  title: string,
  fields: readonly (readonly [name: string, label: string, description: string])[],
])[] = [
  ['none', 'No, as the addons have them', []],
  ['rpdb', 'Rating Poster Database', [['rpdbApiKey', 'Key', 'From ratingposterdb.com.']]],
  ['top-poster', 'Top Posters', [['topPosterApiKey', 'Key', 'From api.top-streaming.stream.']]],
  [
    'aioratings',
    'AIOratings',
    [
      ['aioratingsApiKey', 'Key', 'From aioratings.com.'],
      ['aioratingsProfileId', 'Style', 'One you made there. Empty: the usual one.'],
    ],
  ],
  [
    'openposterdb',
    'OpenPosterDB',
    [
      ['openposterdbApiKey', 'Key', 'From openposterdb.com or your own server.'],
      ['openposterdbUrl', 'Server', 'Empty: openposterdb.com.'],
      ['openposterdbParameters', 'Parameters', 'Such as lang=de. Empty: none.'],
    ],
  ],
];

/** Switches that stand beside them. */
export const pictureFlags: readonly string[] = ['usePosterServiceForMeta', 'digitalReleaseFilter.enabled'];

/** What is typed or chosen, by the names of the configuration. */
export const pictureTexts: readonly string[] = [
  'posterService',
  'tmdbApiKey',
  ...posterServices.flatMap(([, , fields]) => fields.map(([name]) => name)),
];
