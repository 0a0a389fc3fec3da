import { describe, expect, it } from 'vitest';
import { settingsSections } from '../../../main/host/config/sections.ts';
import { registry } from '../../../main/host/services/registry.ts';
import { fixtureService } from '../../support/fixture-service.ts';

describe('main settings', () => {
  it.each(settingsSections(registry).map((section) => [section.id, section] as const))(
    'are few enough: %s',
    (id, { fields }) => {
      const areas = Map.groupBy(fields, ({ area }) => area);
      for (const [area, ofArea] of areas) {
        const first = ofArea.filter(({ advanced }) => !advanced);
        expect(first.length, `${id} ${area}`).toBeLessThanOrEqual(8);
        expect(first.length, `${id} ${area}`).toBeGreaterThan(0);
        if (id !== 'host' && fields.length > 8) expect(first.length, id).toBeGreaterThanOrEqual(5);
      }
    },
  );

  it('follows the order of the service', () => {
    const service = { ...fixtureService('plain'), mainSettings: ['word', 'enabled'] };
    const [, section] = settingsSections([service]);
    expect(section?.fields.slice(0, 3).map(({ name, advanced }) => [name, advanced])).toEqual([
      ['word', false],
      ['enabled', false],
      ['port', true],
    ]);
  });

  it('are grouped under the headings of their service', () => {
    const service = { ...fixtureService('plain'), settingGroups: [{ heading: 'Words', settings: ['word'] }] };
    const [, section] = settingsSections([service]);
    expect(section?.fields.filter(({ group }) => group === 'Words').map(({ name }) => name)).toEqual(['word']);
    const wrong = {
      ...service,
      settingGroups: [
        { heading: 'Words', settings: ['word'] },
        { heading: 'More', settings: ['word'] },
      ],
    };
    expect(() => settingsSections([wrong])).toThrow('"word" of its groups does not exist, or is in two');
  });

  it('contains only settings of the section', () => {
    const wrong = settingsSections(registry).flatMap(({ id, fields }) =>
      fields.flatMap(({ name, schema }) =>
        Object.keys((schema['needs'] as object | undefined) ?? {})
          .filter((needed) => !fields.some((entry) => entry.name === needed))
          .map((needed) => `${id}.${name} needs ${needed}`),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('describes programs by their names', () => {
    const descriptions = settingsSections(registry).flatMap(({ fields }) =>
      fields.map(({ description }) => description),
    );
    expect(descriptions.filter((text) => /\bpeers?\b/.test(text))).toEqual([]);
  });

  it('must exist, or the app does not start', () => {
    const service = { ...fixtureService('plain'), mainSettings: ['word', 'nothing'] };
    expect(() => settingsSections([service])).toThrow('its main setting "nothing" does not exist');
  });
});
