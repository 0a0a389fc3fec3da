import * as m from '#messages/data-rows';
import type { DataColumn, DataCondition } from '../../../../../../services/contracts/data/rows.ts';
import type { MenuItem } from '../../../../parts/overlay/Menu.svelte';
import { toasts } from '../../../../state/toasts.svelte.ts';
import { moveByOne, type ColumnLayout } from '../columns/column-layout.svelte.ts';
import type { GridController } from './grid-controller.svelte.ts';
import type { GridPosition } from './grid-navigation.ts';

interface CellMenuOptions {
  readonly grid: GridController;
  readonly position: GridPosition;
  readonly column: DataColumn;
  /** Rows can be opened. */
  readonly hasLead: boolean;
  readonly onopen: (index: number, column: string) => void;
  readonly onfilter: (column: string, condition: DataCondition, value: string) => void;
}

/** Builds the menu of a cell. */
export function buildCellMenu({ grid, position, column, hasLead, onopen, onfilter }: CellMenuOptions): MenuItem[] {
  const isEditable = grid.getReadOnlyReason(column) === '';
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText((await grid.readCell(position)) ?? '');
    } catch (error) {
      toasts.showError(error);
    }
  };
  const filter = async (): Promise<void> => {
    const value = await grid.readCell(position);
    onfilter(column.name, value === null ? 'null' : 'eq', value ?? '');
  };
  // The menu returns the focus to the cell when it closes; an editor that is open before would lose it.
  const edit = (): void => grid.editOnFocus(position);
  return [
    ...(isEditable ? [{ label: m.editCell(), icon: 'edit', run: edit } as const] : []),
    { label: m.copyCell(), icon: 'copy', run: () => void copy() },
    { label: m.filterByCell(), icon: 'filter', run: () => void filter() },
    ...(isEditable && column.isNullable
      ? [{ label: m.setToNull(), run: () => void grid.set(position, { kind: 'value', text: null }) }]
      : []),
    ...(isEditable && column.defaultValue !== null
      ? [{ label: m.setToDefault(), run: () => void grid.set(position, { kind: 'default' }) }]
      : []),
    ...(hasLead
      ? [{ label: m.openThisRow(), icon: 'open', run: () => onopen(position.row, column.name) } as const]
      : []),
  ];
}

interface ColumnMenuOptions {
  readonly column: DataColumn;
  readonly layout: ColumnLayout;
  /** Names of all columns in display order. */
  readonly names: readonly string[];
  readonly onsort: (column: string, direction: 'asc' | 'desc') => void;
  readonly onfit: () => void;
}

/** Builds the menu of a column. */
export function buildColumnMenu({ column: { name }, layout, names, onsort, onfit }: ColumnMenuOptions): MenuItem[] {
  const visible = names.filter((each) => !layout.isHidden(each));
  const index = visible.indexOf(name);
  const move = (by: -1 | 1): void => {
    const moved = moveByOne(visible, name, by);
    layout.setOrder([...moved, ...names.filter((each) => layout.isHidden(each))]);
  };
  return [
    { label: m.sortAscending(), icon: 'up', run: () => onsort(name, 'asc') },
    { label: m.sortDescending(), icon: 'down', run: () => onsort(name, 'desc') },
    { label: m.fitColumn(), icon: 'columns', run: onfit },
    { label: m.moveColumnLeft(), icon: 'back', disabled: index <= 0, run: () => move(-1) },
    { label: m.moveColumnRight(), icon: 'forward', disabled: index >= visible.length - 1, run: () => move(1) },
    { label: m.hideColumn(), icon: 'hide', disabled: visible.length <= 1, run: () => layout.setHidden(name, true) },
  ];
}
