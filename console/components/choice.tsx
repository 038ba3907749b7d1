import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { Menu, MenuGroup, MenuItem } from "./menu.tsx";

export interface Named {
  readonly id: string;
  readonly name: string;
}

interface Props {
  readonly name: string;
  readonly chosen: string | null;
  readonly choices: readonly Named[];
  readonly onChoose: (id: string | null) => void;
}

/** A filter with one value, or none. */
export const Choice = ({ name, chosen, choices, onChoose }: Props) => (
  <Menu
    trigger={
      <Button className="filter" aria-pressed={chosen !== null}>
        {name}
        {chosen !== null && (
          <>
            : <bdi>{choices.find(({ id }) => id === chosen)?.name ?? "other"}</bdi>
          </>
        )}
        <Icon name="chevron" />
      </Button>
    }
  >
    <MenuGroup label={name}>
      <MenuItem onSelect={() => onChoose(null)} isChecked={chosen === null}>
        Any
      </MenuItem>
      {choices.map((each) => (
        <MenuItem key={each.id} onSelect={() => onChoose(each.id)} isChecked={each.id === chosen}>
          <bdi>{each.name}</bdi>
        </MenuItem>
      ))}
    </MenuGroup>
  </Menu>
);
