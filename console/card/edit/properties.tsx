import type { ReactNode } from "react";
import { Link } from "wouter";
import { useCard, useProjects, useRead } from "../../api/reads.ts";
import type { CardSnapshot } from "../../api/reads.ts";
import type { Card } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Priority } from "../../card-chip/priority.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { LabelBadge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Menu, MenuItem } from "../../components/menu.tsx";
import { ParentField, DueDateField } from "./property-fields.tsx";
import { ReleasesProperty } from "./releases-property.tsx";
import { usePatchCard } from "./use-patch-card.ts";
import "./properties.css";

interface Props {
  readonly card: CardSnapshot;
  readonly mayEdit: boolean;
}

/** What a card has besides its text: priority, assignee, labels and so on, each changed in place. */
export function Properties({ card, mayEdit }: Props) {
  const { data: projects = [] } = useProjects();
  const project = projects.find(({ id }) => id === card.projectId);
  const edit = { card, mayEdit };
  return (
    <section className="panel properties" aria-labelledby="properties">
      <h2 id="properties">Properties</h2>
      <dl>
        <PriorityRow {...edit} />
        <AssigneeRow {...edit} />
        <LabelsRow {...edit} />
        <FeatureRow {...edit} />
        <DueDateField {...edit} />
        <ParentField {...edit} parent={<ParentLink number={card.parentNumber} />} />
        <ReleasesProperty number={card.number} />
        <RepositoriesRow {...edit} />
        {projects.length > 1 && (
          <Row name="Project">
            <bdi>{project?.name}</bdi>
          </Row>
        )}
      </dl>
    </section>
  );
}

/** One property: its name, its value, and a menu to change it. */
const Row = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="property">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

interface ChoiceProps {
  readonly name: string;
  readonly mayEdit: boolean;
  readonly isBusy: boolean;
  readonly value: ReactNode;
  /** The value in words, for assistive technology. */
  readonly spoken: string;
  readonly children: ReactNode;
}

const Choice = ({ name, mayEdit, isBusy, value, spoken, children }: ChoiceProps) => (
  <Row name={name}>
    {mayEdit ? (
      <Menu
        trigger={
          <Button kind="quiet" className="property-value" isBusy={isBusy} aria-label={`${name}: ${spoken}`}>
            {value}
            <Icon name="chevron" />
          </Button>
        }
      >
        {children}
      </Menu>
    ) : (
      <span className="property-value">{value}</span>
    )}
  </Row>
);

const PRIORITIES = ["none", "low", "medium", "high", "urgent"] as const;

const PriorityRow = ({ card, mayEdit }: Props) => {
  const { patch, isBusy } = usePatchCard(card);
  return (
    <Choice
      name="Priority"
      mayEdit={mayEdit}
      isBusy={isBusy}
      spoken={card.priority}
      value={
        <>
          <Priority priority={card.priority} /> {card.priority}
        </>
      }
    >
      {PRIORITIES.map((priority) => (
        <MenuItem
          key={priority}
          isChecked={priority === card.priority}
          onSelect={() => patch({ priority }, `Priority: ${priority}`)}
        >
          {priority}
        </MenuItem>
      ))}
    </Choice>
  );
};

const AssigneeRow = ({ card, mayEdit }: Props) => {
  const { keys } = useWorkspace();
  const { data: members = [] } = useRead(keys.list("members"), "GET /v1/members", {}, { all: true });
  const { patch, isBusy } = usePatchCard(card);
  const { assignee } = card;
  return (
    <Choice
      name="Assignee"
      mayEdit={mayEdit}
      isBusy={isBusy}
      spoken={assignee?.name ?? "nobody"}
      value={assignee ? <Person {...assignee} /> : <None>nobody</None>}
    >
      <MenuItem
        isChecked={assignee === null}
        onSelect={() => patch({ assigneeId: null }, "Assigned to nobody")}
      >
        nobody
      </MenuItem>
      {members.map(({ id, name }) => (
        <MenuItem
          key={id}
          isChecked={id === assignee?.id}
          onSelect={() => patch({ assigneeId: id }, `Assigned to ${name}`)}
        >
          <bdi>{name}</bdi>
        </MenuItem>
      ))}
    </Choice>
  );
};

const LabelsRow = ({ card, mayEdit }: Props) => {
  const { keys } = useWorkspace();
  const { data: labels = [] } = useRead(keys.list("labels"), "GET /v1/labels", {}, { all: true });
  const { patch, isBusy } = usePatchCard(card);
  const held = card.labels.map(({ id }) => id);
  const toggle = (id: string, name: string): void =>
    held.includes(id)
      ? patch({ labelIds: held.filter((each) => each !== id) }, `Label ${name} removed`)
      : patch({ labelIds: [...held, id] }, `Label ${name} added`);
  return (
    <Choice
      name="Labels"
      mayEdit={mayEdit}
      isBusy={isBusy}
      spoken={card.labels.map(({ name }) => name).join(", ") || "none"}
      value={<LabelList labels={card.labels} />}
    >
      {labels.length === 0 && (
        <MenuItem onSelect={() => undefined} unavailable="Create them in the settings.">
          The board has no labels
        </MenuItem>
      )}
      {labels.map((label) => (
        <MenuItem
          key={label.id}
          staysOpen
          isChecked={held.includes(label.id)}
          onSelect={() => toggle(label.id, label.name)}
        >
          <LabelBadge label={label} />
        </MenuItem>
      ))}
    </Choice>
  );
};

const LabelList = ({ labels }: Pick<Card, "labels">) =>
  labels.length === 0 ? (
    <None>none</None>
  ) : (
    <span className="property-labels">
      {labels.map((label) => (
        <LabelBadge key={label.id} label={label} />
      ))}
    </span>
  );

const FeatureRow = ({ card, mayEdit }: Props) => {
  const { keys } = useWorkspace();
  const { data: features = [] } = useRead(keys.list("features"), "GET /v1/features", {}, { all: true });
  const { patch, isBusy } = usePatchCard(card);
  const feature = features.find(({ id }) => id === card.featureId);
  return (
    <Choice
      name="Feature"
      mayEdit={mayEdit}
      isBusy={isBusy}
      spoken={feature?.name ?? "none"}
      value={feature ? <LabelBadge label={feature} /> : <None>none</None>}
    >
      <MenuItem
        isChecked={card.featureId === null}
        onSelect={() => patch({ featureId: null }, "Feature removed")}
      >
        none
      </MenuItem>
      {features.map((each) => (
        <MenuItem
          key={each.id}
          isChecked={each.id === card.featureId}
          onSelect={() => patch({ featureId: each.id }, `Feature: ${each.name}`)}
        >
          <LabelBadge label={each} />
        </MenuItem>
      ))}
    </Choice>
  );
};

const RepositoriesRow = ({ card, mayEdit }: Props) => {
  const { keys } = useWorkspace();
  const { projectId, repositories } = card;
  const { data: offered = [] } = useRead(
    [...keys.list("repositories"), projectId],
    "GET /v1/projects/{projectId}/repositories",
    { path: { projectId } },
    { all: true },
  );
  const { patch, isBusy } = usePatchCard(card);
  const names = repositories.map(({ fullName }) => fullName);
  const held = offered.filter(({ fullName }) => names.includes(fullName)).map(({ id }) => id);
  // A repository that left the project would be lost with a change of the set.
  const isComplete = held.length === names.length;
  const toggle = (id: string, name: string): void =>
    held.includes(id)
      ? patch({ repositoryIds: held.filter((each) => each !== id) }, `${name} removed from the card`)
      : patch({ repositoryIds: [...held, id] }, `${name} added to the card`);
  return (
    <Choice
      name="Repositories"
      mayEdit={mayEdit && offered.length > 0 && isComplete}
      isBusy={isBusy}
      spoken={names.join(", ") || "none"}
      value={names.length === 0 ? <None>none</None> : <span className="mono">{names.join(", ")}</span>}
    >
      {offered.map(({ id, fullName }) => (
        <MenuItem key={id} staysOpen isChecked={held.includes(id)} onSelect={() => toggle(id, fullName)}>
          <span className="mono">{fullName}</span>
        </MenuItem>
      ))}
    </Choice>
  );
};

const Person = ({ name, avatarUrl, kind }: NonNullable<Card["assignee"]>) => (
  <span className="person">
    <Avatar name={name} avatarUrl={avatarUrl} kind={kind} isDecorative />
    <bdi>{name}</bdi>
  </span>
);

const None = ({ children }: { readonly children: string }) => (
  <span className="property-none">{children}</span>
);

function ParentLink({ number }: { readonly number: number | null }) {
  return number === null ? <None>none</None> : <CardLink number={number} />;
}

function CardLink({ number }: { readonly number: number }) {
  const { base } = useWorkspace();
  const { data: parent } = useCard(number);
  return (
    <Link href={`${base}/cards/${number}`}>
      <span className="mono">#{number}</span> <bdi>{parent?.title}</bdi>
    </Link>
  );
}
