-- What remains of a seller that is being deleted or was deleted. Global.
CREATE TABLE deleted_seller (
  id         bigint PRIMARY KEY CHECK (id > 0),
  -- Of its last change, once all of its rows are gone; 0 before.
  position   bigint NOT NULL CHECK (position >= 0),
  -- When the deletion began.
  deleted_at bigint NOT NULL CHECK (deleted_at >= 0)
);
