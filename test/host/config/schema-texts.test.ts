import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { getLanguage, withLanguage } from '../../../messages/language.ts';
import { evaluateTexts } from '../../../main/host/config/schema-texts.ts';

const schema = z.object({
  days: z
    .enum(['few', 'many'])
    .default('few')
    .meta({ label: () => `days in ${getLanguage()}`, help: 'fixed', choices: { few: () => 'few', many: 'many' } }),
});

function convert(): unknown {
  return z.toJSONSchema(schema, { io: 'input', override: ({ jsonSchema }) => evaluateTexts(jsonSchema) }).properties?.[
    'days'
  ];
}

describe('texts of settings', () => {
  it('are evaluated in the language of the reader', () => {
    expect(convert()).toMatchObject({
      title: 'days in en',
      description: 'fixed',
      choices: { few: 'few', many: 'many' },
    });
    expect(withLanguage('de', convert)).toMatchObject({ title: 'days in de' });
  });
});
